import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { operation } from '../operation.ts';
import { instant, shownText, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { nothing } from './shared.ts';

/** Who has done what, when and from where. It holds ids, and no names or addresses of e-mail (spec#audit-ids). */
export const auditRow = z.object({
  id: uuid,
  /** Of failures that are counted together, the beginning of their minute. */
  at: timestamp,
  /**
   * `operator` (`OPERATOR_TOKEN`), `operator-key:<id>`, `server-key:<id>`, `user:<id>`, or of somebody who is no user
   * `unknown:<keyed hash>`; of somebody who was erased `erased:<keyed hash>`.
   */
  actor: shownText(200),
  /** The name of the operation. */
  action: shownText(100),
  projectId: uuid.nullable(),
  /** What it was done to, by kind and id; null where that is the actor. */
  target: shownText(300).nullable(),
  /** Of somebody who was erased it is a keyed hash. */
  ip: shownText(100),
  requestId: shownText(200),
  /** `success`, or the code of the error. */
  outcome: shownText(100),
  /** How many failures alike there were in the minute (spec#audit-repeated). */
  count: wholeNumber.min(1),
});
export type AuditRow = z.output<typeof auditRow>;

/** The user that a row is about, whom it is erased with: who has acted, or else who it was done to. */
export function auditedUser({ actor, target }: Pick<AuditRow, 'actor' | 'target'>): string | null {
  const about = [actor, target].find((one) => one?.startsWith('user:'));
  return about?.slice('user:'.length) ?? null;
}

/** What may stand in a row as an actor or an action. */
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
