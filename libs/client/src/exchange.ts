import type { Outgoing } from './build-request.ts';
import { type FieldError, KithError, type KithErrorCode, KithNetworkError } from './errors.ts';
import { longestTimerMs } from './wait.ts';

/** The part of `fetch` that is needed here. */
export type Fetch = (address: string, init: RequestInit) => Promise<Response>;

/**
 * Sends a request. Calls `alive` each time that the request makes progress. Each call of `alive` starts the time limit again.
 */
export type Transport = (address: string, init: RequestInit, alive: () => void) => Promise<Response>;

export interface ExchangeOptions {
  fetch: Transport;
  token: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Whether the caller reads the body of the answer after `open` has resolved. If so, the signal also ends this reading. */
  isReadOn?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed body; undefined if there is none. */
  body: unknown;
}

/**
 * Sends a request once and reads its answer. Rejects with `KithError` for an answer outside 2xx. Rejects with
 * `KithNetworkError` if no complete answer arrives in time. If the signal ends the request, rejects with the signal's reason.
 * Rejects with `TypeError` if a header cannot carry its value.
 */
export async function exchange(request: Outgoing, options: ExchangeOptions): Promise<Answer> {
  const send = prepare(request, options);
  return within(options, async (signal, alive) => {
    const response = await send(signal, alive);
    const body = await readJson(response);
    if (!response.ok) throw errorOf(response, body);
    if (response.status !== 204 && body === undefined) throw unexpected(response);
    return { status: response.status, headers: response.headers, body };
  });
}

/**
 * Sends a request, and resolves to its answer as soon as the headers have arrived. The caller reads the body. Rejects as
 * `exchange` does.
 */
export async function open(request: Outgoing, options: ExchangeOptions): Promise<Response> {
  const send = prepare(request, options);
  return within(options, async (signal, alive) => {
    const opened = await send(signal, alive);
    if (!opened.ok) throw errorOf(opened, await readJson(opened));
    return opened;
  });
}

/** Opens a stream of events. */
export async function openStream(
  request: Outgoing,
  options: ExchangeOptions,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await open(request, options);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    await response.body?.cancel();
    throw unexpected(response);
  }
  return response.body.getReader();
}

/** Prepares a request. This happens before `within`, because `within` reports every error as a failure of the network. */
function prepare({ method, address, body, headers }: Outgoing, options: ExchangeOptions) {
  const init = {
    method,
    headers: checkedHeaders({
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...headers,
    }),
    ...(body === undefined ? {} : { body }),
  };
  return (signal: AbortSignal, alive: () => void) => options.fetch(address, { ...init, signal }, alive);
}

/**
 * Returns the headers, with no white space at the ends of their values. Throws `TypeError` if a header cannot carry its value
 * (RFC 9110 section 5.5). `Headers` does not refuse all control characters, but Node cannot send them. In Node, the error of
 * `Headers` also quotes the value, which may be a token.
 */
export function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const checked = Object.entries(headers).map(([name, value]) => {
    const text = String(value).trim();
    if (/[^\t -~\u0080-\u00ff]/.test(text))
      throw new TypeError(`A header cannot carry the given value of "${name}".`);
    return [name, text];
  });
  return Object.fromEntries(checked);
}

/**
 * Runs `work` with a time limit. The limit is `timeoutMs`, counted from the start, or from the last call of `alive`. When the
 * time is over, or when the caller's signal is aborted, the signal that `work` gets is aborted. The error shows whether the
 * limit, the caller's signal, or the work itself was the reason for the failure.
 */
export async function within<T>(
  { timeoutMs, signal, isReadOn }: Pick<ExchangeOptions, 'timeoutMs' | 'signal' | 'isReadOn'>,
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  // With `isReadOn`, the caller's signal must still end the reading after this function has returned. But this function does
  // not learn when the reading is over, so it could not remove a listener. The listener would stay as long as the caller's
  // signal exists. A signal from `AbortSignal.any`, however, is freed together with the answer. Browsers before 2024 have no
  // `AbortSignal.any`. In these browsers, a listener is used nevertheless.
  const joined = signal && isReadOn && 'any' in AbortSignal && AbortSignal.any([signal, controller.signal]);
  if (!joined) signal?.addEventListener('abort', abort);
  let isTimeout = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const alive = () => {
    // After the platform has refused an upload, pieces of its body may still be sent. They must not start the timer again.
    if (isOver) return;
    clearTimeout(timer);
    const end = () => {
      isTimeout = true;
      controller.abort();
    };
    timer = setTimeout(end, Math.min(timeoutMs, longestTimerMs));
  };
  alive();
  let isOpen = false;
  try {
    const done = await work(joined || controller.signal, alive);
    isOpen = isReadOn === true;
    return done;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof KithError) throw cause;
    const what = isTimeout ? `No answer within ${timeoutMs} ms.` : 'The connection failed.';
    throw new KithNetworkError(what, { isTimeout, cause });
  } finally {
    isOver = true;
    clearTimeout(timer);
    if (!isOpen) signal?.removeEventListener('abort', abort);
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorAnswer {
  error: string;
  code: string;
  field: string;
  errors: readonly FieldError[];
  details: string;
}

function errorOf(response: Response, body: unknown): KithError {
  const { error, code, field, errors, details } = (body ?? {}) as Partial<ErrorAnswer>;
  if (typeof error !== 'string' || typeof code !== 'string') return unexpected(response);
  return new KithError(error, {
    ...tellingOf(response),
    code: code as KithErrorCode,
    field,
    errors,
    details,
  });
}

export function unexpected(response: Pick<Response, 'status' | 'headers'>): KithError {
  return new KithError(`The answer with status ${response.status} does not come from the API.`, {
    ...tellingOf(response),
    code: 'client/unexpected-answer',
  });
}

function tellingOf({ status, headers }: Pick<Response, 'status' | 'headers'>) {
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterOf(headers.get('retry-after')),
  };
}

/**
 * Reads the value of `Retry-After`, which is in seconds or a date (RFC 9110 section 10.2.3). Returns how many ms from now it
 * is.
 */
function retryAfterOf(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
