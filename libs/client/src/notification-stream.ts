import type { AppNotification } from './app-notification.ts';
import { KithError, KithNetworkError } from './errors.ts';
import { EventParser, type ServerSentEvent } from './event-parser.ts';
import { backoff } from './retry.ts';
import { unlessAborted, wait } from './wait.ts';

/** What a stream tells. */
export type NotificationEvent =
  | { readonly type: 'notification'; readonly id: string; readonly notification: AppNotification }
  /** What was missed cannot be told any more: load the list anew. */
  | { readonly type: 'reset'; readonly id: string }
  /** Five newer streams of this user are open. This one comes again after a minute, unless it is left. */
  | { readonly type: 'evicted' };

/** `open`: what comes from now on is told. `waiting`: cut off, `error` tells why; it comes again by itself. */
export interface StreamStatus {
  readonly state: 'connecting' | 'open' | 'waiting';
  readonly error?: unknown;
}

export interface StreamOptions {
  /** Ends the stream: the loop over it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The `id` of the last event that was seen, to go on from there after a restart. Default: from now on. */
  lastEventId?: string | undefined;
  onStatus?: ((status: StreamStatus) => void) | undefined;
  /** After how long without a sign of life the connection counts as dead, in ms. The platform gives one every 15 s. */
  silenceMs?: number | undefined;
}

type Bytes = ReadableStreamDefaultReader<Uint8Array>;

/** Opens the stream's answer, from an event on. Rejects as a call does. */
export type OpenNotifications = (lastEventId: string, signal: AbortSignal | undefined) => Promise<Bytes>;

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** Two heartbeats of the platform, and a little for the way. */
const defaultSilenceMs = 32_000;

/**
 * Tells notifications as they come, without a gap or a repeat over any number of connections. Goes on until it is
 * left, aborted, or refused for good, as when the session ends: then it rejects with that `KithError`.
 */
export async function* streamNotifications(
  open: OpenNotifications,
  options: StreamOptions = {},
): AsyncGenerator<NotificationEvent, void, undefined> {
  const { signal, onStatus, silenceMs = defaultSilenceMs } = options;
  let parser = new EventParser(options.lastEventId);
  let failures = 0;
  for (;;) {
    let reader: Bytes | undefined;
    let failure: unknown;
    try {
      onStatus?.({ state: 'connecting' });
      reader = await open(parser.lastEventId, signal);
      // An event that had arrived only in part when the connection broke is sent again as a whole.
      parser = parserAfter(parser);
      for (let isOpen = false; ; ) {
        const bytes = await readWithin(reader, silenceMs, signal);
        if (!bytes) break;
        const events = parser.push(bytes);
        failures = 0;
        // The first bytes tell the position from which the platform goes on.
        if (!isOpen) onStatus?.({ state: 'open' });
        isOpen = true;
        for (const event of events) {
          const told = notificationEventOf(event);
          if (told) yield told;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error)) throw error;
      failure = error;
    } finally {
      // Not waited for: a connection that is dead does not answer.
      reader?.cancel().catch(() => {});
    }
    onStatus?.({ state: 'waiting', error: failure });
    await wait(delayOf(parser.retryMs, failures++, failure), signal);
  }
}

function parserAfter({ lastEventId, retryMs }: EventParser): EventParser {
  const parser = new EventParser(lastEventId);
  parser.retryMs = retryMs;
  return parser;
}

/** What the platform asked for at first; backing off from there, when it does not get better. */
function delayOf(asked: number | undefined, failures: number, failure: unknown): number {
  const first = asked ?? firstRetryMs;
  const retryAfter = failure instanceof KithError ? (failure.retryAfterMs ?? 0) : 0;
  if (failures === 0 && !failure) return first;
  return retryAfter + first / 2 + backoff(failures, first / 2, Math.max(longestRetryMs, first));
}

/** The next bytes; undefined at the end. Rejects with `KithNetworkError` after too long a silence. */
async function readWithin(
  reader: Bytes,
  silenceMs: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const message = `No sign of life for ${silenceMs} ms.`;
    timer = setTimeout(() => reject(new KithNetworkError(message, { isTimeout: true })), silenceMs);
  });
  try {
    const { value } = await unlessAborted(Promise.race([reader.read(), silence]), signal);
    return value;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether to come again: not when the platform has refused for good. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof KithError)) return true;
  return error.status >= 500 || error.status === 429 || error.status === 408;
}

function notificationEventOf({ type, data, lastEventId }: ServerSentEvent): NotificationEvent | undefined {
  if (type === 'notification') {
    return { type, id: lastEventId, notification: JSON.parse(data) as AppNotification };
  }
  if (type === 'reset') return { type, id: lastEventId };
  if (type === 'evicted') return { type };
  // A kind of event that is newer than this client.
  return undefined;
}
