import { ApiError } from '@kith/base';
import type { OperationSpec } from '@kith/contracts';
import type { Caller, OperatorCaller } from '@kith/service';
import { bearerOf } from './bearer.ts';
import { type KnownKeys, type OperatorRequest, Operators } from './operators.ts';
import type { TokenVerifier } from './token.ts';

/** The caller, and the project that the token belongs to. */
export type ScopedCaller = Caller & { projectId: string };

/** Identifies the caller in the way that the operation's `auth` requires (spec#auth). */
export class Callers {
  readonly #tokens: Pick<TokenVerifier, 'verify'>;
  readonly #operators: Operators;

  /** @param options.operatorToken If it is undefined, only operator keys give access to the operators' endpoints. */
  constructor(options: {
    tokens: Pick<TokenVerifier, 'verify'>;
    operatorToken: string | undefined;
    known?: KnownKeys;
  }) {
    this.#tokens = options.tokens;
    this.#operators = new Operators(options.operatorToken, options.known);
  }

  /** Identifies the operator who calls an operators' operation. Throws the errors of `Operators.identify`. */
  operator(authorization: string | undefined, request: OperatorRequest): Promise<OperatorCaller> {
    return this.#operators.identify(authorization, request);
  }

  /** Throws `auth/unauthorized` or `auth/forbidden`. While no token can be verified, throws `gateway/unavailable`. */
  async identify(
    authorization: string | undefined,
    at: OperatorRequest & { operation: OperationSpec; projectId: string | null },
  ): Promise<ScopedCaller | null> {
    switch (at.operation.auth) {
      case 'none':
        return null;
      case 'operator':
        await this.operator(authorization, at);
        return null;
      case 'user':
        return this.#user(authorization, at.projectId);
      case 'server-key':
        await this.#user(authorization, at.projectId);
        throw new ApiError('auth/forbidden', { message: 'This endpoint takes only a server key.' });
      case 'optional':
        return this.#user(authorization, at.projectId).catch((error: unknown) => {
          // If the token is optional, an invalid token counts as no token. But while the gateway cannot verify tokens, it
          // throws `gateway/unavailable`: a signed-in user must not get the answer for callers without a token.
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
}
