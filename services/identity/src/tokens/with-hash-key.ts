import { randomBytes } from 'node:crypto';
import type { Secrets } from '@kith/base';
import { type HashKeys, sealedFor } from '../store/index.ts';

/**
 * Returns the secrets, changed so that they make keyed hashes with a key that is stored in the database. The key is made at the
 * first start, and does not depend on KITH_SECRET. So after a change of KITH_SECRET, values that were hashed before are still
 * found (docs/adr/0048).
 */
export async function withHashKey(
  secrets: Secrets,
  store: Pick<HashKeys, 'id' | 'find' | 'add'>,
): Promise<Secrets> {
  if ((await store.find()) === undefined) {
    await store.add(secrets.seal(sealedFor.hashing, randomBytes(32), store.id));
  }
  // Replicas that start at the same time share the key that was stored first.
  const sealed = (await store.find()) ?? '';
  return secrets.withHashKey(secrets.open(sealedFor.hashing, sealed, store.id));
}
