import { getUser } from '@kith/contracts';
import { decodeContext, shedReply, successReply } from '@kith/service';
import { handlerEngines } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { expectError, projectId, send, serveEcho, serveIssuer, startTestGateway, userId } from './harness.ts';

const path = `/v7/${projectId}/users/${userId}`;
/** For each operation, this number of requests is always let through. A round has the same number of answers. */
const least = 32;

describe.each(handlerEngines())('a service that turns requests away (%s)', (engine) => {
  it('gets no more requests than it can take, and all requests again as soon as it has room', async () => {
    await using test = await startTestGateway(engine, {
      env: {
        RATE_LIMITS: JSON.stringify({ [getUser.name]: { max: 100, windowSeconds: 3_600 } }),
        // This time is long enough that no request expires if the machine stalls for some seconds.
        REQUEST_TIMEOUT_MS: '60000',
      },
    });
    await serveIssuer(test.bus);
    const { port } = test.gateway;
    let goOn: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    // Tells requests apart by id, because the bus may repeat a request that only reads (docs/adr/0026).
    const asked: string[] = [];
    const service = await serveEcho(test.bus, getUser, async ({ headers }) => {
      const { requestId } = decodeContext(headers);
      if (!asked.includes(requestId)) asked.push(requestId);
      if (asked.indexOf(requestId) >= least) return shedReply();
      await gate;
      return successReply(200, {}, {});
    });
    const all = Array.from({ length: least }, () => send(port, { path }));
    await expect.poll(() => asked.length).toBe(least);

    // In the first round, the service itself refuses. From then on, the gateway refuses without asking the service.
    for (let more = 1; more <= least + 2; more++) {
      const answer = await send(port, { path });
      expectError(answer, 'gateway/unavailable');
      expect(answer.headers['retry-after']).toBe('1');
      expect(asked.length).toBe(least + Math.min(more, least));
    }
    goOn();
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    asked.length = 0;
    const after = await send(port, { path });
    expect(after.status).toBe(200);
    // Requests that the gateway refused do not count towards the rate limit. Requests that the service turned away do count.
    expect(after.headers.ratelimit).toContain(`r=${100 - 2 * least - 1};`);
    await service.stop();
  });
});
