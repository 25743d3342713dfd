import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestPlatform } from '@kith/testing';
import { decodeJwt, decodeProtectedHeader, importJWK, type JWK, SignJWT } from 'jose';
import { MongoClient } from 'mongodb';

/** Makes of an access token the same one, signed by the platform's own key, that expired a minute ago. */
export async function expiredToken(platform: TestPlatform, accessToken: string): Promise<string> {
  const { kid = '' } = decodeProtectedHeader(accessToken);
  const key = await importJWK(await privateKeyOf(platform, kid), 'RS256');
  const past = Math.floor(Date.now() / 1000) - 60;
  return new SignJWT({ ...decodeJwt(accessToken), iat: past - 1800, exp: past })
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .sign(key);
}

/** Reads a key where identity keeps it. */
async function privateKeyOf(platform: TestPlatform, kid: string): Promise<JWK> {
  if (!platform.engines) {
    using db = new DatabaseSync(join(platform.dataFolder, 'identity.sqlite'), { readOnly: true });
    const rows = db.prepare('SELECT doc FROM keys').all();
    return keyIn(
      rows.map(({ doc }) => String(doc)),
      kid,
    );
  }
  await using client = new MongoClient(platform.engines.mongodbUrl);
  const keys = client.db(`${platform.prefix}_identity`).collection<{ d?: string }>('keys');
  const stored = await keys.find().toArray();
  return keyIn(
    stored.map(({ d = 'null' }) => d),
    kid,
  );
}

function keyIn(documents: readonly string[], kid: string): JWK {
  const key = documents.map((text) => JSON.parse(text)).find((one) => one?.kid === kid);
  if (!key) throw new Error(`There is no key ${kid}.`);
  return key.privateJwk;
}
