import { z } from 'zod';
import { operation } from '../operation.ts';
import { text, uuid } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { ownUser } from './users.ts';

/** What operators' endpoints about one user have in common. */
const oneUser = {
  scope: 'none',
  auth: 'operator',
  limit: perFiveMinutes(1000),
  params: z.object({ projectId: uuid, userId: uuid }),
  query: nothing,
  status: 200,
  errors: ['user/not-found'],
  invalid: { params: 'user/not-found' },
} as const;

/**
 * Changes the part of a user that only operators may set. Answers the user. Access tokens carry the role they were issued
 * with, until the session is refreshed (spec#admin-users-update).
 */
export const changeUser = operation({
  ...oneUser,
  name: 'identity.change-user',
  summary: "Change a user's role, reputation or verification",
  feature: 'user',
  method: 'PATCH',
  path: '/admin/projects/:projectId/users/:userId',
  body: z.object({
    role: text({ min: 1, max: 64 }).optional(),
    reputation: z.number().optional(),
    isVerified: z.boolean().optional(),
  }),
  output: ownUser,
});

export const adminUserOperations = [changeUser] as const;
