import { derivedId } from '@kith/base';
import { type AuditRow, auditedUser, auditRecorded } from '@kith/contracts';
import { type AuditLog, eventOf, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { erased } from './store/index.ts';

/** Rows of all services: those of its own are there already, unless a process has died. */
export const auditEvents = subscription({
  durable: 'identity-audit',
  events: [auditRecorded],
  apply: ({ data }, app: AppContext) => addRow(app, data),
});

/** The audit log as requests fill it. */
export function auditLogOf(app: AppContext): AuditLog {
  return {
    async add(row) {
      app.relay.kick();
      await addRow(app, row);
    },
    async fail(failure, alike) {
      // Keyed: erasure leaves the id, and nobody is to find out by it whose row it was.
      const row = { id: derivedId('audit', app.secrets.hash('audit-row', alike)), ...failure };
      await app.store.audits.fail(row, eventOf(row));
      app.relay.kick();
    },
  };
}

/** Adds a row; of a user who is erased by now it says no more than erasure leaves. */
async function addRow({ store, secrets }: AppContext, row: AuditRow): Promise<void> {
  const userId = auditedUser(row);
  const isThere = !userId || !row.projectId || (await store.users.account(row.projectId, userId)) !== null;
  await store.audits.add(isThere ? row : erased(row, auditHash(secrets)));
}

/** What stands for the id and the address of somebody who was erased: the same for the same, and known to nobody without the key. */
export function auditHash(secrets: AppContext['secrets']): (text: string) => string {
  return (text) => secrets.hash('audit', text);
}

/** Who tries with an address that is no user's: a keyed hash (spec#audit-ids). */
export function strangerOf(
  { secrets }: Pick<AppContext, 'secrets'>,
  projectId: string,
  email: string,
): string {
  return `unknown:${secrets.hash('audit-address', `${projectId}|${email}`)}`;
}
