import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { operation } from '../operation.ts';
import { instant, shownText, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { nothing } from './shared.ts';

/**
 * A row of the audit log. It says who has done what, when and from where. A row holds ids, but no names or e-mail addresses
 * (spec#audit-ids).
 */
export const auditRow = z.object({
  id: uuid,
  /**
   * The time of the action. If one row counts several failures, this is the beginning of the minute in which the failures
   * happened.
   */
  at: timestamp,
  /**
   * Who acted: `operator` (`OPERATOR_TOKEN`), `operator-key:<id>`, `server-key:<id>` or `user:<id>`. `unknown:<keyed hash>` is
   * somebody who is not a user. `erased:<keyed hash>` is a user who was erased.
   */
  actor: shownText(200),
  /** The name of the operation. */
  action: shownText(100),
  projectId: uuid.nullable(),
  /**
   * The user or thing that the action was done to, as kind and id. Null if the action was done to the actor, or to something
   * that has no id.
   */
  target: shownText(300).nullable(),
  /** The IP address of the caller; a keyed hash of it if the user was erased. */
  ip: shownText(100),
  requestId: shownText(200),
  /** `success`, or the code of the error. */
  outcome: shownText(100),
  /** How many failures of the same kind there were in the minute (spec#audit-repeated). */
  count: wholeNumber.min(1),
});
export type AuditRow = z.output<typeof auditRow>;

/**
 * The user whom a row is about. This is the user who acted, or the target if no user acted. The row is erased with this user.
 */
export function auditedUser({ actor, target }: Pick<AuditRow, 'actor' | 'target'>): string | null {
  const about = [actor, target].find((one) => one?.startsWith('user:'));
  return about?.slice('user:'.length) ?? null;
}

/** A filter by the actor or by the action of a row. */
const wanted = z
  .string()
  .max(200)
  .regex(/^[\w.:-]+$/, 'must be letters, digits, dots, colons, hyphens and underscores.')
  .optional();

/** The audit log, newest first (spec#audit-list). */
export const listAudit = operation({
  name: 'identity.list-audit',
  summary: 'List the audit log',
  feature: 'auth',
  operatorScope: 'audit:read',
  narrowsToProjects: true,
  scope: 'none',
  auth: 'operator',
  limit: null,
  method: 'GET',
  path: '/admin/audit',
  params: nothing,
  query: listQuery({ limit: 20, max: 100 }).extend({
    projectId: uuid.optional().describe('Only actions in this project.'),
    actor: wanted.describe(
      'Only actions of this actor. Give the actor as it is written in a row, or only its id.',
    ),
    action: wanted.describe('Only actions with this operation name.'),
    from: instant.optional().describe('Only actions at or after this time.'),
    to: instant.optional().describe('Only actions before this time.'),
  }),
  body: nothing,
  output: generalList(auditRow),
  status: 200,
  errors: ['auth/forbidden'],
});

export const auditOperations = [listAudit] as const;
