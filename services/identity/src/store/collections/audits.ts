import type { AuditRow } from '@kith/contracts';
import { collection } from '@kith/store';
import { z } from 'zod';
import { text, time } from './stored.ts';

/**
 * A row of the audit log as it is stored. `user` is the id of the user whom the row is about. If this user is erased,
 * everything in the row that identifies the user is replaced.
 */
export type StoredAudit = Omit<AuditRow, 'id' | 'at'> & { at: number; user: string | null };

/** How long rows of the audit log are kept (spec#audit-kept). */
const keepAuditMs = 400 * 24 * 3600_000;

/** The audit log, keyed by place: newest first. */
export const audits = collection<StoredAudit>({
  name: 'audits',
  kind: 'target',
  version: 1,
  schema: z.object({
    at: time,
    actor: text,
    action: text,
    projectId: text.nullable(),
    target: text.nullable(),
    ip: text,
    requestId: text,
    outcome: text,
    count: z.int(),
    user: text.nullable(),
  }),
  indexes: {
    actor: { key: ({ actor }, id) => `${actor.slice(actor.indexOf(':') + 1)}|${id}` },
    project: { key: ({ projectId }, id) => projectId && `${projectId}|${id}` },
    action: { key: ({ action }, id) => `${action}|${id}` },
    projectAction: { key: ({ projectId, action }, id) => projectId && `${projectId}|${action}|${id}` },
    user: { key: ({ projectId, user }, id) => projectId && user && `${projectId}|${user}|${id}` },
  },
  expires: ({ at }) => at + keepAuditMs,
});
