import { Secret, TOTP } from 'otpauth';
import type { AppContext } from '../app.ts';
import { sealedFor } from '../store/index.ts';

// What authenticator apps take without being told: RFC 6238 with the values of RFC 4226.
const common = { algorithm: 'SHA1', digits: 6, period: 30 };
/** Bytes of a secret: as long as the hash (RFC 4226 4). */
const secretBytes = 20;
/** Steps before and after the present one whose codes count, too: clocks differ, and people type. */
const window = 1;

/** Makes a secret; `url` is what an authenticator app takes, as a QR code or a link. */
export function makeTotp(labels: { issuer: string; label: string }): { secret: string; url: string } {
  const totp = new TOTP({ ...common, ...labels, secret: new Secret({ size: secretBytes }) });
  return { secret: totp.secret.base32, url: totp.toString() };
}

/** Seals a secret for its user. */
export function sealTotp(app: AppContext, secret: string, userId: string): string {
  return app.secrets.seal(sealedFor.totp, secret, userId);
}

/**
 * Tells the time step that a code belongs to, for a code that counts at `at`, and is of a later step than `after`: each code
 * counts once (RFC 6238 5.2). Null for any other.
 */
export function totpStep(
  app: AppContext,
  { sealed, after, userId }: { sealed: string; after: number; userId: string },
  code: string,
  at: Date,
): number | null {
  const secret = Secret.fromBase32(app.secrets.open(sealedFor.totp, sealed, userId).toString());
  const timestamp = at.getTime();
  const delta = new TOTP({ ...common, secret }).validate({ token: code, timestamp, window });
  if (delta === null) return null;
  const step = Math.floor(timestamp / 1000 / common.period) + delta;
  return step > after ? step : null;
}
