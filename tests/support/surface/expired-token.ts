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
    const row = db.prepare('SELECT privateJwk FROM keys WHERE kid = ?').get(kid);
    return JSON.parse(String(row?.privateJwk));
  }
  await using client = new MongoClient(platform.engines.mongodbUrl);
  const keys = client.db(`${platform.prefix}_identity`).collection<{ privateJwk: string }>('keys');
  return JSON.parse((await keys.findOne({ kid }))?.privateJwk ?? '');
}
