import { Secret, TOTP } from 'otpauth';
import type { AppContext } from '../app.ts';
import { sealedFor } from '../store/index.ts';

// The values that authenticator apps use by default (RFC 6238 and RFC 4226).
const common = { algorithm: 'SHA1', digits: 6, period: 30 };
/** How many bytes a secret has. The hash has the same number of bytes (RFC 4226 4). */
const secretBytes = 20;
/** How many time steps before and after the present step are also accepted, because clocks differ and typing takes time. */
const window = 1;

/** Makes a secret. An authenticator app reads `url` as a QR code or a link. */
export function makeTotp(labels: { issuer: string; label: string }): { secret: string; url: string } {
  const totp = new TOTP({ ...common, ...labels, secret: new Secret({ size: secretBytes }) });
  return { secret: totp.secret.base32, url: totp.toString() };
}

/** Seals a user's secret, so that it can be opened only for this user. */
export function sealTotp(app: AppContext, secret: string, userId: string): string {
  return app.secrets.seal(sealedFor.totp, secret, userId);
}

/**
 * Returns the time step of a code that is valid at `at`; null for any other code. The step must be later than `after`, so that
 * each code is accepted only once (RFC 6238 5.2).
 */
export function totpStep(
  app: AppContext,
  { sealed, after, userId }: { sealed: string; after: number; userId: string },
  code: string,
  at: Date,
): number | null {
  // The library throws if the code has six characters that are not all ASCII.
  if (!/^\d{6}$/.test(code)) return null;
  const secret = Secret.fromBase32(app.secrets.open(sealedFor.totp, sealed, userId).toString());
  const timestamp = at.getTime();
  const delta = new TOTP({ ...common, secret }).validate({ token: code, timestamp, window });
  if (delta === null) return null;
  const step = Math.floor(timestamp / 1000 / common.period) + delta;
  return step > after ? step : null;
}
