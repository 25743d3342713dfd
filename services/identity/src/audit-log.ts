import { derivedId } from '@kith/base';
import { type AuditRow, auditedUser, auditRecorded } from '@kith/contracts';
import { type AuditLog, eventOf, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { erased } from './store/index.ts';

/**
 * Stores the audit rows of all services, which arrive as events. Identity also stores its own rows directly (`auditLogOf`). So
 * the event of such a row changes nothing, unless a process died before it stored the row.
 */
export const auditEvents = subscription({
  durable: 'identity-audit',
  events: [auditRecorded],
  apply: ({ data }, app: AppContext) => addRow(app, data),
});

/** The audit log that requests add rows to. */
export function auditLogOf(app: AppContext): AuditLog {
  return {
    async add(row) {
      app.relay.kick();
      await addRow(app, row);
    },
    async fail(failure, alike) {
      // Erasure keeps the id, so the id must not show whose row it was. For this reason the id is a keyed hash.
      const row = { id: derivedId('audit', app.secrets.hash('audit-row', alike)), ...failure };
      await app.store.audits.fail(row, eventOf(row));
      app.relay.kick();
    },
  };
}

/** Adds a row. If the user of the row is already erased, stores the row as an erasure would have left it. */
async function addRow({ store, secrets }: AppContext, row: AuditRow): Promise<void> {
  const userId = auditedUser(row);
  const isThere = !userId || !row.projectId || (await store.users.account(row.projectId, userId)) !== null;
  await store.audits.add(isThere ? row : erased(row, auditHash(secrets)));
}

/**
 * Returns the function that makes hashes of an erased user's id and address. Audit rows hold these hashes in place of the id
 * and the address. Equal texts have equal hashes, and nobody can compute a hash without the key.
 */
export function auditHash(secrets: AppContext['secrets']): (text: string) => string {
  return (text) => secrets.hash('audit', text);
}

/**
 * The name of an actor who tries an address that no user has. The name contains a keyed hash of the address (spec#audit-ids).
 */
export function strangerOf(
  { secrets }: Pick<AppContext, 'secrets'>,
  projectId: string,
  email: string,
): string {
  return `unknown:${secrets.hash('audit-address', `${projectId}|${email}`)}`;
}
