import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from '@kith/base';
import { freePort } from '@kith/engines';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answering, caller } from './api.ts';

/** Starts a server, and returns its address. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a call that a rate limit refuses', () => {
  /** A gateway that refuses the first request, and says after how many seconds it accepts another request. */
  const refusingOnce = async (seconds: number, code = 'rate-limit/exceeded') => {
    let asked = 0;
    return serve((_request, response) => {
      if (asked++ > 0) response.end('{"asked":2}');
      else response.writeHead(429, { 'Retry-After': seconds }).end(JSON.stringify({ code }));
    });
  };

  it('the call is repeated if Retry-After is shorter than the patience', async () => {
    const call = caller(await refusingOnce(1), { patienceMs: 30_000 });
    expect(await call('GET', '/')).toEqual({ asked: 2 });
  });

  it.each([
    [31, 30_000, 'rate-limit/exceeded'],
    [1, undefined, 'rate-limit/exceeded'],
    [1, 30_000, 'auth/too-many-attempts'],
  ])(
    'the call fails with a Retry-After of %i s, a patience of %j ms and the code %s',
    async (seconds, patienceMs, code) => {
      const call = caller(await refusingOnce(seconds, code), patienceMs ? { patienceMs } : {});
      await expect(call('GET', '/')).rejects.toThrow(`GET / answered 429 ${code}`);
    },
  );
});

describe('a call that gets no answer in time', () => {
  /** A gateway that answers the first two requests with errors, and the keys of all requests. */
  const late = async () => {
    const keys: unknown[] = [];
    const url = await serve(({ headers }, response) => {
      const nth = keys.push(headers['idempotency-key']);
      if (nth === 1) response.writeHead(504).end('{"code":"gateway/timeout"}');
      else if (nth === 2) response.writeHead(409).end('{"code":"request/in-progress"}');
      else response.writeHead(204).end();
    });
    return { url, keys };
  };

  it('the call is repeated with the same Idempotency-Key', async () => {
    const { url, keys } = await late();
    const call = caller(url, { patienceMs: 30_000, isKeyed: true });
    await call('POST', '/', { body: {} });
    await call('POST', '/', { body: {} });
    const [key, again] = [keys[0], keys[3]];
    expect(keys).toEqual([key, key, key, again]);
    expect([key, again]).toEqual([expect.any(String), expect.any(String)]);
    expect(again).not.toBe(key);
  });

  it('without keys the call is not repeated, because the platform may have carried it out', async () => {
    const { url, keys } = await late();
    const answer = caller(url, { patienceMs: 30_000 })('POST', '/', { body: {} });
    await expect(answer).rejects.toThrow('POST / answered 504 gateway/timeout');
    expect(keys).toEqual([undefined]);
  });
});

describe('an answer of a proxy', () => {
  it.each([
    [200, '<html>Sign in</html>'],
    [401, '<html>Sign in</html>'],
    [401, '{"message":"Sign in"}'],
    [502, 'null'],
  ])(
    'with status %i and the content %s, the call says that the answer is not from Kith',
    async (status, content) => {
      const call = caller(await serve((_request, response) => response.writeHead(status).end(content)));
      await expect(call('GET', '/')).rejects.toMatchObject({
        code: 'not-from-kith',
        message: `GET / answered ${status}, and this answer does not come from Kith`,
      });
    },
  );
});

describe('an answer that redirects', () => {
  it.each([301, 302, 307, 308])(
    'with status %i to another server, ends the call without a request to this server',
    async (status) => {
      let asked = 0;
      const other = await serve((_request, response) => {
        asked++;
        response.end('{}');
      });
      const url = await serve(({ url: path }, response) =>
        response.writeHead(status, { location: `${other}${path}` }).end(),
      );
      const sentence = `${url} redirects to ${other}. Name that address instead.`;
      const call = caller(url, { patienceMs: 30_000 });
      await expect(call('POST', '/', { token: 'token', body: { password: 'secret' } })).rejects.toThrow(
        sentence,
      );
      await expect(answering(url, 3_600_000)).rejects.toThrow(sentence);
      expect(asked).toBe(0);
    },
  );

  it('to the same server, is not from Kith', async () => {
    const url = await serve((_request, response) => response.writeHead(302, { location: '/sign-in' }).end());
    await expect(caller(url)('GET', '/')).rejects.toMatchObject({ status: 302, code: 'not-from-kith' });
  });
});

describe('answering', () => {
  it('answering waits for a gateway that does not listen yet', async () => {
    const port = await freePort();
    const answered = answering(`http://127.0.0.1:${port}`, 30_000);
    // The connection is refused now, because the server does not listen yet.
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    const server = createServer((_request, response) => response.writeHead(404).end('{}')).listen(port);
    await expect(answered).resolves.toBeUndefined();
    server.close();
  });

  it('answering rejects if no gateway answers in time', async () => {
    await expect(answering(`http://127.0.0.1:${await freePort()}`, 0)).rejects.toThrow(StartError);
  });
});
