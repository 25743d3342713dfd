import { describe, expect, it, vi } from 'vitest';
import { KithError } from './errors.ts';
import { type StreamOptions, streamNotifications } from './notification-stream.ts';

const notice = (id: number) => `id: ${id}\nevent: notification\ndata: {"id":"${id}"}\n\n`;

/**
 * Opens connections that send the given chunks and end. All later connections stay silent. For each connection, notes the event
 * after which the connection continues.
 */
function connections(...all: string[][]) {
  const from: string[] = [];
  const open = async (lastEventId: string) => {
    from.push(lastEventId);
    const chunks = all.shift();
    return new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks ?? []) controller.enqueue(new TextEncoder().encode(chunk));
        if (chunks) controller.close();
      },
    }).getReader();
  };
  return { open, from };
}

/** Reads a stream to its end in the background. */
function listen(
  open: (lastEventId: string) => Promise<ReadableStreamDefaultReader<Uint8Array>>,
  options: StreamOptions,
) {
  const states: string[] = [];
  const onStatus: StreamOptions['onStatus'] = ({ state }) => states.push(state);
  const told: string[] = [];
  const ended = (async () => {
    for await (const event of streamNotifications(open, { ...options, onStatus })) {
      if (event.type === 'notification') told.push(event.id);
    }
  })().catch((error: unknown) => error);
  return { states, told, ended };
}

describe('a stream of notifications', () => {
  it('reports "open" when it has a position from which the next connection can continue', async () => {
    const { signal, ...controller } = signalOf();
    const { open, from } = connections(['retry: 1\n\n'], ['retry: 1\n\n', 'id: 4\n\n', notice(5)]);
    const { states, told, ended } = listen(open, { signal });
    await expect.poll(() => from).toHaveLength(3);
    controller.abort();
    await ended;
    expect(from).toEqual(['', '', '5']);
    expect(states).toEqual(['connecting', 'waiting', 'connecting', 'open', 'waiting', 'connecting']);
    expect(told).toEqual(['5']);
  });

  it('reports where it begins, and ends with the error of the function that gets the reports', async () => {
    const { open, from } = connections(['id: 4\n\n']);
    const begins: unknown[] = [];
    const read = async () => {
      const onStatus: StreamOptions['onStatus'] = ({ state, lastEventId }) => {
        begins.push([state, lastEventId]);
        if (state === 'open') throw new Error('of the caller');
      };
      for await (const event of streamNotifications(open, { onStatus })) begins.push(event);
    };
    await expect(read()).rejects.toThrow('of the caller');
    expect([begins, from]).toEqual([
      [
        ['connecting', undefined],
        ['open', '4'],
      ],
      [''],
    ]);
  });

  it('yields nothing after its signal is aborted, not even events that have already arrived', async () => {
    const controller = new AbortController();
    const { open } = connections([notice(1) + notice(2)]);
    const told: string[] = [];
    const read = async () => {
      for await (const event of streamNotifications(open, { signal: controller.signal })) {
        told.push(event.type);
        controller.abort(new Error('left the page'));
      }
    };
    await expect(read()).rejects.toThrow('left the page');
    expect(told).toEqual(['notification']);
  });

  it('connects again within minutes, even if a proxy or a wrong clock asks for a longer wait', async () => {
    vi.useFakeTimers();
    const { signal, ...controller } = signalOf();
    const away = {
      status: 503,
      code: 'client/unexpected-answer',
      retryAfterMs: 40 * 24 * 3_600_000,
    } as const;
    let opened = 0;
    const open = () => {
      opened++;
      return Promise.reject(new KithError('Away.', away));
    };
    const { ended } = listen(open, { signal });
    // The attempts come one after another, not all at the same time.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toBe(1);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(opened).toBe(2);
    controller.abort();
    await ended;
  });

  it('may be silent forever if the caller sets silenceMs to Infinity', async () => {
    vi.useFakeTimers();
    const { signal, ...controller } = signalOf();
    const { open, from } = connections();
    const { ended } = listen(open, { signal, silenceMs: Number.POSITIVE_INFINITY });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(from).toHaveLength(1);
    controller.abort();
    await ended;
  });
});

function signalOf() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
