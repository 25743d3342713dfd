// Quick counterpart: libs/service/tests/relay.test.ts
// Starts at most 3 platforms and 18 processes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessName } from '@kith/platform';
import { availableEngines, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * How long a process is frozen, in ms. This is longer than a caller in this suite waits for an answer, and shorter than the
 * time after which the broker drops a silent client.
 */
const frozenMs = 3_200;
const requestTimeoutMs = 2_000;

describe('an embedded platform whose process was blocked', () => {
  it('serves a request that arrived during the block, if the time limit of the request is not over', async () => {
    const env = { REQUEST_TIMEOUT_MS: '6000' };
    await using platform = await startPlatform({ engine: 'embedded', env });
    const { accessToken, projectId } = await platform.createUser();
    // Blocks this process for more than half of the time limit of a request. After such a long block, the process counts as
    // frozen (libs/bus/src/received-at.ts).
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_200);
    const path = `/v7/${projectId}/auth/sessions`;
    const answer = await fetch(platform.url + path, { headers: { authorization: `Bearer ${accessToken}` } });
    expect(answer.status).toBe(200);
  });
});

/**
 * Turns tracing on, because a process handles traced requests with other code. No collector listens at this address, so the
 * spans are lost.
 */
const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_SAMPLER: 'always_on' };

describe.runIf(availableEngines().includes('containers')).each<[string, object, ProcessName[]]>([
  ['a process that was frozen', {}, ['identity', 'gateway']],
  ['a traced process that was frozen', traced, ['identity']],
])('%s', (_, more, names) => {
  let platform: TestPlatform;
  let user: TestUser;
  beforeAll(async () => {
    const env = { REQUEST_TIMEOUT_MS: String(requestTimeoutMs), ...more };
    platform = await startPlatform({ engine: 'containers', env });
    // A process that has just started is slow, so the first sign-up may take longer than the short time limit of requests.
    user = await waitFor(() => platform.createUser({ name: 'Before' }), { timeoutMs: 60_000 });
  });
  afterAll(() => platform?.stop());

  it.each(names)(
    '%s does not process requests that arrived during the freeze and whose callers no longer wait',
    async (name) => {
      const pid = platform.processes?.process(name)?.pid as number;
      const rename = (to: string, signal?: AbortSignal) =>
        fetch(`${platform.url}/v7/${user.projectId}/users/${user.id}`, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${user.accessToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: to }),
          ...(signal && { signal }),
        });
      process.kill(pid, 'SIGSTOP');
      const late = rename(`Late ${name}`, AbortSignal.timeout(frozenMs + 5_000));
      // Waits while the process is frozen. Meanwhile nothing happens that the test could wait for.
      await sleep(frozenMs);
      process.kill(pid, 'SIGCONT');
      expect([503, 504]).toContain((await late).status);
      await expect.poll(async () => (await rename(`After ${name}`)).status).toBe(200);
      const after = await platform.waitForEvent('user.updated', {
        where: ({ data }) => data.id === user.id && data.name === `After ${name}`,
      });
      const told = platform.events.flatMap((event) =>
        event.type === 'user.updated' ? [event.data.name] : [],
      );
      expect(told).not.toContain(`Late ${name}`);
      expect(after.data.name).toBe(`After ${name}`);
    },
  );
});
