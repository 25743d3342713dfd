import { userCommand } from './users-shared.ts';

/** Lets a suspended user sign in again. */
export const restoreUserCommand = userCommand('restore', 'let a suspended user sign in again');
