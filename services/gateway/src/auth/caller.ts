import { hash, timingSafeEqual } from 'node:crypto';
import { ApiError } from '@kith/base';
import type { OperationSpec } from '@kith/contracts';
import type { Caller } from '@kith/service';
import type { TokenVerifier } from './token.ts';
import { unauthorized } from './unauthorized.ts';

/** Who calls, and the project that the token is of. */
export type ScopedCaller = Caller & { projectId: string };

/** Identifies who calls, by the rule of the operation's `auth` (spec#auth). */
export class Callers {
  readonly #tokens: Pick<TokenVerifier, 'verify'>;
  readonly #operator: Buffer | undefined;

  /** @param options.operatorToken Without one, operator endpoints refuse everybody. */
  constructor(options: { tokens: Pick<TokenVerifier, 'verify'>; operatorToken: string | undefined }) {
    this.#tokens = options.tokens;
    this.#operator = options.operatorToken === undefined ? undefined : digest(options.operatorToken);
  }

  /** Throws `auth/unauthorized`, `auth/forbidden`, or `gateway/unavailable` while no token can be verified. */
  async identify(
    authorization: string | undefined,
    at: { operation: OperationSpec; projectId: string | null },
  ): Promise<ScopedCaller | null> {
    switch (at.operation.auth) {
      case 'none':
        return null;
      case 'operator':
        this.#checkOperator(authorization);
        return null;
      case 'user':
        return this.#user(authorization, at.projectId);
      case 'optional':
        return this.#user(authorization, at.projectId).catch((error: unknown) => {
          // Any token that does not hold here counts as none. One that cannot be judged yet (503) does not: a
          // signed-in user would be answered as a stranger.
          if (error instanceof ApiError && error.code !== 'gateway/unavailable') return null;
          throw error;
        });
    }
  }

  async #user(authorization: string | undefined, projectId: string | null): Promise<ScopedCaller> {
    const token = await this.#tokens.verify(bearerOf(authorization));
    if (projectId !== null && token.projectId !== projectId) throw new ApiError('auth/forbidden');
    const { userId, sessionId, role } = token;
    return { userId, sessionId, role, projectId: token.projectId };
  }

  #checkOperator(authorization: string | undefined): void {
    const token = bearerOf(authorization);
    // Digests are of one length and compared in constant time: nothing of the token shows in how long it takes.
    if (this.#operator && timingSafeEqual(digest(token), this.#operator)) return;
    throw unauthorized(jwtForm.test(token) ? 'not-operator' : 'wrong-operator');
  }
}

/** The token of an Authorization header; the scheme in any case (RFC 9110 section 11.1). */
function bearerOf(authorization: string | undefined): string {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized(authorization ? 'not-bearer' : 'none');
  return token;
}

/** What access tokens look like. */
const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]*$/;

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
