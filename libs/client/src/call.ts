import { buildRequest, type Outgoing } from './build-request.ts';
import { isKithError, KithError } from './errors.ts';
import { type Answer, type ExchangeOptions, exchange, type Transport } from './exchange.ts';
import type { Input, Operation, WriteOptions } from './operation.ts';
import { randomName } from './random-name.ts';
import { giveUp, withRetries } from './retry.ts';
import { isOtherUser } from './session.ts';

/** Where a caller's tokens come from. */
export interface Tokens {
  token(signal?: AbortSignal): Promise<string | undefined>;
  /** A token that differs from the refused token; undefined if there is no such token. */
  tokenInsteadOf(refused: string, signal?: AbortSignal): Promise<string | undefined>;
  noteRefusal(error: unknown, used: string): Promise<void>;
}

/** Settings that all calls of a client share. */
export interface CallSettings {
  url: string;
  projectUrl: string;
  fetch: Transport;
  /** Whether the caller gave its own `fetch`. */
  hasOwnFetch: boolean;
  timeoutMs: number;
  retries: number;
  tokens: Tokens;
}

/** Status and code of the error if a call needs a signed-in user and nobody is signed in. */
export const notSignedIn = { status: 401, code: 'auth/unauthorized' } as const;

/**
 * Returns a function that sends a request with a token. If the token is refused, the function sends the request once more with
 * another token. Each further call of the function sends the request as the same user. If by then another user is signed in, or
 * nobody, the call rejects with the error of the first attempt, because only that error shows whether the request may have been
 * carried out. If `endOf` is given, the call rejects with the error that `endOf` returns instead. If the first attempt was made
 * without a token, each further call sends the request without a token, too.
 */
export function authorized<T>(
  { tokens }: CallSettings,
  auth: Operation['auth'],
  signal: AbortSignal | undefined,
  send: (token: string | undefined) => Promise<T>,
  endOf: (first: unknown) => unknown = giveUp,
): () => Promise<T> {
  if (auth === 'none') return () => send(undefined);
  /**
   * A token of the user who made the first attempt, and the error of that attempt. `token` is undefined if the attempt was made
   * without a token.
   */
  let first: { token: string | undefined; error?: unknown } | undefined;
  const attempt = async () => {
    if (first && first.token === undefined) return send(undefined);
    const token = await tokens.token(signal).catch((error: unknown) => {
      // If the session has ended, and the operation may be called without a token, the call is made without a token.
      const isEnd =
        error instanceof KithError && error.status < 404 && error.code !== 'client/unexpected-answer';
      if (auth === 'optional' && isEnd) return undefined;
      throw error;
    });
    if (first?.token && isOtherUser(first.token, token)) throw endOf(first.error);
    if (token === undefined && auth !== 'optional') {
      throw new KithError('Nobody is signed in.', notSignedIn);
    }
    first ??= { token };
    if (token === undefined) return send(undefined);
    try {
      return await send(token);
    } catch (error) {
      await tokens.noteRefusal(error, token);
      if (!isKithError(error, 'auth/unauthorized')) throw error;
      const other = await tokens.tokenInsteadOf(token, signal);
      if (other === undefined || other === token || isOtherUser(token, other)) throw error;
      first.token = other;
      return send(other);
    }
  };
  return () =>
    attempt().catch((error: unknown) => {
      if (first) first.error ??= error;
      throw error;
    });
}

/** Calls an operation, with retries and tokens. */
export function call(
  settings: CallSettings,
  operation: Operation,
  input?: Input,
  options?: WriteOptions,
): Promise<Answer> {
  return callBy(exchange, settings, operation, input, options);
}

/** Like `call`, but `send` sends the request and reads the answer. */
export function callBy<T>(
  send: (request: Outgoing, options: ExchangeOptions) => Promise<T>,
  settings: CallSettings,
  operation: Operation,
  input: Input = {},
  { signal, timeoutMs = settings.timeoutMs, idempotencyKey }: WriteOptions = {},
): Promise<T> {
  const key = keyOf(operation, settings, idempotencyKey);
  const isRepeatable = operation.method === 'GET' || operation.isRepeatable === true;
  let isKeyTaken = false;
  // `buildRequest` throws if the input cannot be sent. Inside this async function, such an error rejects the returned promise,
  // and is not thrown by `callBy` itself.
  return (async () => {
    const built = buildRequest(settings, operation, input);
    const request = key === undefined ? built : { ...built, headers: { 'idempotency-key': quoted(key) } };
    const attempt = authorized(settings, operation.auth, signal, (token) => {
      // The platform ignores the key of a visitor (spec#idempotency-scope). So the key does not make it safe to repeat a
      // visitor's write.
      isKeyTaken = key !== undefined && (operation.auth !== 'optional' || token !== undefined);
      return send(request, { fetch: settings.fetch, token, timeoutMs, signal });
    });
    const isSafe = () => isRepeatable || isKeyTaken;
    return withRetries(attempt, { isSafe, retries: settings.retries, timeoutMs, signal });
  })();
}

/** The key of a write: the given key, or a new key if calls are retried. */
function keyOf(
  { takesKey }: Operation,
  { retries }: CallSettings,
  given: string | undefined,
): string | undefined {
  if (!takesKey || (given === undefined && retries === 0)) return undefined;
  return given ?? randomName();
}

/** Writes a key as a string of a structured field (RFC 9651). */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, '\\$&')}"`;
}
