import { Secret, TOTP } from 'otpauth';

const stepMs = 30_000;

/**
 * An authenticator app with one secret. Each code works only once. So `next` first returns the code of this half minute, and then the
 * code of the next half minute.
 */
export class Authenticator {
  readonly #totp: TOTP;
  #last = 0;

  constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret) });
  }

  /** Returns a code that it has not returned before. Throws if that code is not valid yet. */
  next(): string {
    const now = Math.floor(Date.now() / stepMs);
    const step = Math.max(now, this.#last + 1);
    if (step > now + 1) throw new Error('The next code is not valid yet: use a recovery code.');
    this.#last = step;
    return this.#totp.generate({ timestamp: step * stepMs });
  }
}
