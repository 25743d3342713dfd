import { getApiKeys, noteKeyUses } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import { gatewayKeyOf } from '../api-key-views.ts';
import type { AppContext } from '../app.ts';

/** The maximum number of keys in a page. A key takes 5 KB at most, so a page fits in a message of the bus. */
const pageSize = 500;

/** Returns all operator keys and server keys to gateways, page by page (docs/adr/0053). */
export const apiKeysHandler = internalHandler(getApiKeys, async ({ after }, app: AppContext) => {
  const found = await app.store.apiKeys.after(after ?? '', pageSize);
  return {
    keys: found.map((key) => ({ hash: key.hash, key: gatewayKeyOf(key) })),
    next: found.length === pageSize ? (found.at(-1)?.place ?? null) : null,
  };
});

/** Stores the times at which keys were last used. */
export const noteKeyUsesHandler = internalHandler(noteKeyUses, async ({ uses }, app: AppContext) => {
  await app.store.apiKeys.noteUses(new Map(uses.map(({ hash, at }) => [hash, new Date(at)])));
  return {};
});
