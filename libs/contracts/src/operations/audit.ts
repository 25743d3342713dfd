import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { operation } from '../operation.ts';
import { instant, shownText, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { nothing } from './shared.ts';

/** Who has done what, when and from where. A row holds ids, but no names or e-mail addresses (spec#audit-ids). */
export const auditRow = z.object({
  id: uuid,
  /** For failures that are counted together: the beginning of their minute. */
  at: timestamp,
  /**
   * `operator` (`OPERATOR_TOKEN`), `operator-key:<id>`, `server-key:<id>`, `user:<id>`, `unknown:<keyed hash>` for somebody who is
   * not a user, or `erased:<keyed hash>` for a user who was erased.
   */
  actor: shownText(200),
  /** The name of the operation. */
  action: shownText(100),
  projectId: uuid.nullable(),
  /** What the action was done to, by kind and id; null if that is the actor. */
  target: shownText(300).nullable(),
  /** A keyed hash if the user was erased. */
  ip: shownText(100),
  requestId: shownText(200),
  /** `success`, or the code of the error. */
  outcome: shownText(100),
  /** How many alike failures there were in the minute (spec#audit-repeated). */
  count: wholeNumber.min(1),
});
export type AuditRow = z.output<typeof auditRow>;

/** The user whom a row is about, and with whom it is erased: the user who acted, or else the user who was acted on. */
export function auditedUser({ actor, target }: Pick<AuditRow, 'actor' | 'target'>): string | null {
  const about = [actor, target].find((one) => one?.startsWith('user:'));
  return about?.slice('user:'.length) ?? null;
}

/** A text that can be an actor or an action of a row. */
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
    projectId: uuid.optional().describe('Only what was done in this project.'),
    actor: wanted.describe('Only what this actor has done: as in a row, or its id alone.'),
    action: wanted.describe('Only this operation.'),
    from: instant.optional().describe('Only from this time on.'),
    to: instant.optional().describe('Only before this time.'),
  }),
  body: nothing,
  output: generalList(auditRow),
  status: 200,
  errors: ['auth/forbidden'],
});

export const auditOperations = [listAudit] as const;
