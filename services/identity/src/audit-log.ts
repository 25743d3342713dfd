import { derivedId } from '@kith/base';
import { type AuditRow, auditedUser, auditRecorded } from '@kith/contracts';
import { type AuditLog, eventOf, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { erased } from './store/index.ts';

/** Takes the audit rows of all services. Identity's own rows are stored already, unless a process has died. */
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
      // A keyed hash: erasure keeps the id, and the id must not tell whose row it was.
      const row = { id: derivedId('audit', app.secrets.hash('audit-row', alike)), ...failure };
      await app.store.audits.fail(row, eventOf(row));
      app.relay.kick();
    },
  };
}

/** Adds a row. If its user is erased by now, stores only what erasure would have left of the row. */
async function addRow({ store, secrets }: AppContext, row: AuditRow): Promise<void> {
  const userId = auditedUser(row);
  const isThere = !userId || !row.projectId || (await store.users.account(row.projectId, userId)) !== null;
  await store.audits.add(isThere ? row : erased(row, auditHash(secrets)));
}

/**
 * The function that makes hashes in place of the id and the address of somebody who was erased. Equal texts have equal hashes,
 * which nobody can compute without the key.
 */
export function auditHash(secrets: AppContext['secrets']): (text: string) => string {
  return (text) => secrets.hash('audit', text);
}

/** Names an actor who tries an address that no user has, by a keyed hash (spec#audit-ids). */
export function strangerOf(
  { secrets }: Pick<AppContext, 'secrets'>,
  projectId: string,
  email: string,
): string {
  return `unknown:${secrets.hash('audit-address', `${projectId}|${email}`)}`;
}
