import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { startPlatform } from '@kith/testing';
import { expect, it } from 'vitest';
import { HoldWatch } from './hold.ts';
import { type HostileRequest, hostileRequests } from './requests.ts';

/** The longest time for which a request may block the event loop, in ms. */
const longestHold = 50;
/**
 * If a request blocks the event loop for more than half of `longestHold`, it is sent and measured this many times. Only the
 * shortest time counts, because a compilation, a garbage collection or a shared core can make a time longer, but never shorter.
 */
const tries = 5;

/**
 * Sends the chosen hostile requests to a platform in this process. Measures how long each request blocks the platform's event loop.
 */
export function holdsTheLoopBriefly(
  chosen: (request: HostileRequest) => boolean,
  options: { timeoutMs: number; atLeast: number },
): void {
  const { timeoutMs: timeout } = options;
  it('no request blocks the event loop for 50 ms or fails, whatever it contains', { timeout }, async ({
    annotate,
  }) => {
    await using platform = await startPlatform({ env: { LOG_LEVEL: 'silent', TRUST_PROXY_HOPS: '1' } });
    const client = new Worker(new URL('client.ts', import.meta.url));
    const watch = new HoldWatch();
    await using ending = new AsyncDisposableStack();
    ending.defer(async () => void (await client.terminate()));
    ending.defer(() => watch.stop());
    const wrong: string[] = [];
    const holdOf = async (request: HostileRequest) => {
      watch.begin();
      client.postMessage({ url: platform.url, ...request });
      const [status] = await once(client, 'message');
      // By contract, the answer to a key that cannot sign is a server error (spec#test-tokens-key-refused).
      if (status === 0 || (status >= 500 && !request.name.startsWith('crypto.'))) {
        wrong.push(`${status}: ${request.name}`);
      }
      return watch.longest();
    };
    const longest = { ms: 0, name: '' };
    let sent = 0;
    for await (const request of hostileRequests(platform)) {
      if (!chosen(request)) continue;
      sent += 1;
      const holds = [await holdOf(request)];
      while (holds.length < tries && (holds[0] as number) > longestHold / 2)
        holds.push(await holdOf(request));
      const ms = Math.min(...holds);
      if (ms > longest.ms) Object.assign(longest, { ms, name: request.name });
      if (ms >= longestHold) wrong.push(`${Math.round(ms)} ms: ${request.name}`);
    }
    await annotate(`${sent} requests; the longest hold was ${longest.ms.toFixed(1)} ms: ${longest.name}`);
    expect(wrong.join('\n')).toBe('');
    expect(sent).toBeGreaterThan(options.atLeast);
  });
}
