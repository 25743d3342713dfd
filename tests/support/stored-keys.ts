import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Secrets } from '@kith/base';
import type { TestPlatform } from '@kith/testing';
import { decodeJwt, decodeProtectedHeader, importJWK, type JWTPayload, SignJWT } from 'jose';
import { MongoClient } from 'mongodb';

/** A signing key as identity stores it. */
export interface StoredKey {
  kid: string;
  sealed: string;
}

/** Reads the signing keys from the database, as somebody with a copy of the database could do. */
export async function storedKeys(
  platform: Pick<TestPlatform, 'engines' | 'dataFolder' | 'prefix'>,
): Promise<StoredKey[]> {
  if (!platform.engines) {
    using db = new DatabaseSync(join(platform.dataFolder, 'identity.sqlite'), { readOnly: true });
    const rows = db.prepare('SELECT doc FROM keys').all();
    return rows.map(({ doc }) => JSON.parse(String(doc)));
  }
  await using client = new MongoClient(platform.engines.mongodbUrl);
  const keys = client.db(`${platform.prefix}_identity`).collection<{ d?: string }>('keys');
  return (await keys.find().toArray()).flatMap(({ d }) => (d ? [JSON.parse(d)] : []));
}

/**
 * Makes a copy of an access token with the given claims. Signs the copy with the key from the database. Throws `CannotOpen` if the
 * secrets cannot open this key.
 */
export async function forgedToken(
  platform: TestPlatform,
  accessToken: string,
  secrets: Secrets,
  claims: JWTPayload = { jti: crypto.randomUUID() },
): Promise<string> {
  const { kid = '' } = decodeProtectedHeader(accessToken);
  const stored = (await storedKeys(platform)).find((key) => key.kid === kid);
  if (!stored) throw new Error(`There is no key ${kid}.`);
  const key = await importJWK(
    JSON.parse(secrets.open('signing key', stored.sealed, kid).toString()),
    'RS256',
  );
  return new SignJWT({ ...decodeJwt(accessToken), ...claims })
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .sign(key);
}
