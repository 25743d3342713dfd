import { userCommand } from './users-shared.ts';

/** Suspends a user: its tokens stop at once. */
export const suspendUserCommand = userCommand(
  'suspend',
  'suspend a user; the user’s tokens stop working at once',
);
