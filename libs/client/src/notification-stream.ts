import type { AppNotification } from './app-notification.ts';
import { KithError, KithNetworkError } from './errors.ts';
import { EventParser, type ServerSentEvent } from './event-parser.ts';
import { backoff } from './retry.ts';
import { longestTimerMs, unlessAborted, wait } from './wait.ts';

/** An event that a stream yields. */
export type NotificationEvent =
  | { readonly type: 'notification'; readonly id: string; readonly notification: AppNotification }
  /** The missed notifications can no longer be sent: load the list again. */
  | { readonly type: 'reset'; readonly id: string }
  /** Five newer streams of this user are open. This stream reconnects after a minute, unless you leave the loop over it. */
  | { readonly type: 'evicted' };

/**
 * `open`: notifications arrive from now on. `waiting`: the stream was cut off and reconnects by itself; `error` says why it was
 * cut off.
 */
export interface StreamStatus {
  readonly state: 'connecting' | 'open' | 'waiting';
  /** With `open`: where the stream begins. Keep it as `lastEventId`, until an event has an `id`. */
  readonly lastEventId?: string;
  readonly error?: unknown;
}

export interface StreamOptions {
  /** Ends the stream when the signal is aborted. The loop over the stream rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * The `id` of the last event that was seen. After a restart, the stream continues after this event. Default: start from now.
   * If no header can carry this id, `stream` throws `TypeError`.
   */
  lastEventId?: string | undefined;
  /** Gets each change of the state. If it throws, the loop over the stream rejects with its error. */
  onStatus?: ((status: StreamStatus) => void) | undefined;
  /** How long the connection may be silent before it counts as dead, in ms. The platform sends something every 15 s. */
  silenceMs?: number | undefined;
}

type Bytes = ReadableStreamDefaultReader<Uint8Array>;

/** Opens the stream, which then continues after the given event. Rejects with the same errors as a call. */
export type OpenNotifications = (lastEventId: string) => Promise<Bytes>;

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/**
 * The longest wait that the client accepts if an answer asks for a wait, in ms. A longer time may be a mistake of a proxy. Or
 * the answer gives a date, and the clock of this machine is wrong.
 */
const longestAskedMs = 300_000;
/** The platform sends a heartbeat every 15 s. This is the time of two heartbeats, plus 2 s for the network. */
const defaultSilenceMs = 32_000;

/**
 * Yields notifications as they come. If a connection breaks, opens a new connection, and neither misses nor repeats a
 * notification. The stream ends when the loop over it is left, or when the signal is aborted. If the platform refuses the
 * stream permanently, the loop rejects with the `KithError`. This happens, for example, if the session has ended, or if another
 * user is signed in when the stream reconnects.
 */
export async function* streamNotifications(
  open: OpenNotifications,
  options: StreamOptions = {},
): AsyncGenerator<NotificationEvent, void, undefined> {
  const { signal, onStatus, silenceMs = defaultSilenceMs } = options;
  let parser = new EventParser(options.lastEventId);
  let failures = 0;
  let isCallersError = false;
  const tell = (status: StreamStatus) => {
    isCallersError = true;
    onStatus?.(status);
    isCallersError = false;
  };
  for (;;) {
    let reader: Bytes | undefined;
    let failure: unknown;
    try {
      tell({ state: 'connecting' });
      reader = await open(parser.lastEventId);
      // If only a part of an event arrived before the connection broke, the platform sends the whole event again.
      parser = parserAfter(parser);
      for (let isOpen = false; ; ) {
        const bytes = await readWithin(reader, silenceMs, signal);
        if (!bytes) break;
        const events = parser.push(bytes);
        failures = 0;
        // A position is known, from the platform or from the caller. If the connection breaks after this, the next connection
        // continues from the position, and no notification is missed.
        if (!isOpen && parser.lastEventId !== '') {
          isOpen = true;
          tell({ state: 'open', lastEventId: parser.lastEventId });
        }
        for (const event of events) {
          // The caller may have aborted the signal while it handled the previous event.
          signal?.throwIfAborted();
          const told = notificationEventOf(event);
          if (told) yield told;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (isCallersError || !mayPass(error)) throw error;
      failure = error;
    } finally {
      // Does not await the cancellation, because it may never end if the connection is dead.
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

/**
 * How long to wait before the next connection, in ms. After a connection that ended without an error, the wait is the time that
 * the platform last asked for. After failures, the wait is random, and grows with each failure.
 */
function delayOf(asked: number | undefined, failures: number, failure: unknown): number {
  const first = asked ?? firstRetryMs;
  const retryAfter = failure instanceof KithError ? Math.min(failure.retryAfterMs ?? 0, longestAskedMs) : 0;
  if (failures === 0 && !failure) return first;
  return retryAfter + first / 2 + backoff(failures, first / 2, Math.max(longestRetryMs, first));
}

/**
 * Reads the next bytes; returns undefined at the end. Rejects with `KithNetworkError` if the connection is silent for too long.
 */
async function readWithin(
  reader: Bytes,
  silenceMs: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const message = `The stream has sent nothing for ${silenceMs} ms.`;
    const end = () => reject(new KithNetworkError(message, { isTimeout: true }));
    timer = setTimeout(end, Math.min(silenceMs, longestTimerMs));
  });
  try {
    const { value } = await unlessAborted(Promise.race([reader.read(), silence]), signal);
    return value;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Whether to reconnect after an error. False only if the platform itself has refused permanently; the answer of a proxy in
 * front of it does not count.
 */
function mayPass(error: unknown): boolean {
  if (!(error instanceof KithError) || error.code === 'client/unexpected-answer') return true;
  return error.status >= 500 || error.status === 429 || error.status === 408;
}

function notificationEventOf({ type, data, lastEventId }: ServerSentEvent): NotificationEvent | undefined {
  if (type === 'notification') {
    return { type, id: lastEventId, notification: JSON.parse(data) as AppNotification };
  }
  if (type === 'reset') return { type, id: lastEventId };
  if (type === 'evicted') return { type };
  // This version of the client does not know this type of event, so it skips the event.
  return undefined;
}
