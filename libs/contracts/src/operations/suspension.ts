import { z } from 'zod';
import { operation } from '../operation.ts';
import { uuid } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { ownUser } from './users.ts';

const common = {
  feature: 'user',
  scope: 'none',
  method: 'POST',
  auth: 'operator',
  limit: perFiveMinutes(1000),
  params: z.object({ projectId: uuid, userId: uuid }),
  query: nothing,
  body: nothing,
  output: ownUser,
  status: 200,
  errors: ['user/not-found'],
  invalid: { params: 'user/not-found' },
} as const;

/**
 * Suspends a user: its tokens stop at once and its sessions end. Answers the user; repeating changes nothing
 * (spec#admin-users-suspend).
 */
export const suspendUser = operation({
  ...common,
  name: 'identity.suspend-user',
  summary: 'Suspend a user',
  path: '/admin/projects/:projectId/users/:userId/suspend',
});

/** Lets a suspended user sign in again. Answers the user; repeating changes nothing (spec#admin-users-restore). */
export const restoreUser = operation({
  ...common,
  name: 'identity.restore-user',
  summary: 'Restore a suspended user',
  path: '/admin/projects/:projectId/users/:userId/restore',
});

export const suspensionOperations = [suspendUser, restoreUser] as const;
