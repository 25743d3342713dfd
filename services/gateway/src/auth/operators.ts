import { hash, timingSafeEqual } from 'node:crypto';
import { ApiError, apiKeyKindOf } from '@kith/base';
import type { OperationSpec } from '@kith/contracts';
import type { OperatorCaller } from '@kith/service';
import type { ApiKeys } from '../tables/api-keys.ts';
import { bearerOf } from './bearer.ts';
import type { KeyUses } from './key-uses.ts';
import { unauthorized } from './unauthorized.ts';

/** The operation that an operator calls, and its parameters. */
export interface OperatorRequest {
  operation: OperationSpec;
  params?: Readonly<Record<string, string>>;
}

/** The known keys, and the object that records their uses. */
export interface KnownKeys {
  keys: Pick<ApiKeys, 'loaded' | 'find'>;
  uses: Pick<KeyUses, 'note'>;
}

/** Identifies operators, by `OPERATOR_TOKEN` or by a key with its scopes (spec#operators-token, spec#operator-keys). */
export class Operators {
  readonly #token: Buffer | undefined;
  readonly #known: KnownKeys | undefined;

  /** @param token `OPERATOR_TOKEN`. Anyone who sends it has all rights. If it is undefined, nobody has all rights. */
  constructor(token: string | undefined, known: KnownKeys | undefined) {
    this.#token = token === undefined ? undefined : digest(token);
    this.#known = known;
  }

  /**
   * Throws `auth/unauthorized`, or `auth/forbidden` if a key does not allow this operation. Throws `gateway/unavailable` while
   * the keys are not known yet.
   */
  async identify(authorization: string | undefined, request: OperatorRequest): Promise<OperatorCaller> {
    const token = bearerOf(authorization);
    // All digests have the same length, and the comparison takes constant time. So the time that it takes says nothing about
    // the token.
    if (this.#token && timingSafeEqual(digest(token), this.#token)) return { keyId: null, projectIds: null };
    if (apiKeyKindOf(token) === 'operator' && this.#known) return this.#byKey(token, request, this.#known);
    throw unauthorized(jwtForm.test(token) ? 'not-operator' : 'wrong-operator');
  }

  async #byKey(
    token: string,
    { operation, params = {} }: OperatorRequest,
    { keys, uses }: KnownKeys,
  ): Promise<OperatorCaller> {
    await keys.loaded();
    const found = keys.find(token);
    if (found?.key.kind !== 'operator') throw unauthorized('wrong-operator');
    const { id: keyId, scopes, projectIds, expiresAt } = found.key;
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) throw unauthorized('expired-key');
    uses.note(found.hash);
    const { operatorScope } = operation;
    if (operatorScope === undefined) throw forbidden('Only OPERATOR_TOKEN may do this, not an operator key.');
    if (!scopes.includes(operatorScope))
      throw forbidden(`This operator key lacks the scope ${operatorScope}.`);
    if (projectIds && !allows(projectIds, operation, params))
      throw forbidden('This operator key is for other projects.');
    return { keyId, projectIds };
  }
}

/**
 * Whether a key that is limited to some projects may call the operation. This is the case if the operation concerns one of
 * these projects, or if its answer can be narrowed to them.
 */
function allows(
  projectIds: readonly string[],
  operation: OperationSpec,
  params: Readonly<Record<string, string>>,
): boolean {
  if (!Object.hasOwn(operation.params.shape, 'projectId')) return operation.narrowsToProjects === true;
  return projectIds.includes(params.projectId?.toLowerCase() ?? '');
}

function forbidden(message: string): ApiError {
  return new ApiError('auth/forbidden', { message });
}

/** The form of access tokens (JSON Web Tokens). */
const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]*$/;

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
