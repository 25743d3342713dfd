import { Secrets } from '@kith/base';
import type { TestPlatform } from '@kith/testing';
import { forgedToken } from '../stored-keys.ts';

/** Makes a copy of an access token. The copy expired a minute ago, and is signed with the platform's own key. */
export function expiredToken(platform: TestPlatform, accessToken: string): Promise<string> {
  const past = Math.floor(Date.now() / 1000) - 60;
  return forgedToken(platform, accessToken, new Secrets(platform.secret), { iat: past - 1800, exp: past });
}
