// Quick counterpart: tests/start.test.ts
// Starts no platform and at most 19 processes.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@kith/engines';
import { CallError, caller, type StartFile } from '@kith/platform';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { curlLines, startByKith } from './support/start-script.ts';

const ready = 'Ctrl-C ends it';

describe('npm start, in cases that take longer', () => {
  let data: string;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'kith-start-'));
  });
  afterAll(() => rm(data, { recursive: true, force: true }));

  const start = (env: NodeJS.ProcessEnv = {}, words: string[] = []) =>
    startByKith({ env: { KITH_DATA: data, PORT: '0', ...env }, until: ready, words });
  /** The internal address in the output, and the text after the address. */
  const internalIn = (output: string) => /internal +(\S+) (.*)/.exec(output)?.slice(1) ?? [];
  const listening = async (port: number) => {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  it('loses no acknowledged write when it is killed', async () => {
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < 3; round++) {
      await using kith = await start();
      const file: StartFile = JSON.parse(await readFile(join(data, 'start.json'), 'utf8'));
      const call = caller(file.url);
      const token = file.users[0]?.accessToken ?? '';
      const scope = `/v7/${file.projectId}/collections`;
      for (const [id, name] of acknowledged) {
        const renamed = await call<{ name: string }>('PATCH', `${scope}/${id}`, { token, body: { name } });
        expect(renamed.name).toBe(name);
      }
      const listed = await call<{ id: string; name: string }[]>(
        'GET',
        `${scope}/${file.collectionId}/sub-collections`,
        { token },
      );
      const names = new Map(listed.map(({ id, name }) => [id, name]));
      for (const [id, name] of acknowledged) expect(names.get(id)).toBe(name);

      // Writers send requests until the process has ended. So the kill comes in the middle of their requests.
      const writer = async (index: number) => {
        for (let turn = 0; ; turn++) {
          const name = `r${round}-${index}-${turn}`;
          const made = await call<{ id: string }>('POST', `${scope}/${file.collectionId}/sub-collections`, {
            token,
            body: { collectionName: name },
          });
          acknowledged.set(made.id, name);
          if (acknowledged.size >= (round + 1) * 40) kith.signal('SIGKILL');
        }
      };
      const ends = await Promise.allSettled([0, 1, 2].map(writer));
      // The kill has ended every writer. No writer has ended because of an answer.
      for (const end of ends) {
        expect(end).toEqual({ status: 'rejected', reason: expect.any(Error) });
        expect((end as PromiseRejectedResult).reason).not.toBeInstanceOf(CallError);
      }
      await kith.exited;
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(120);
  });

  // This test makes eight starts, one after the other.
  it('says in one sentence why it cannot start', async () => {
    await using kith = await start();
    const { url }: StartFile = JSON.parse(await readFile(join(data, 'start.json'), 'utf8'));
    const taken = await listening(0);
    const { port } = taken.address() as { port: number };
    const other = await mkdtemp(join(tmpdir(), 'kith-other-'));
    const cases: [NodeJS.ProcessEnv, RegExp | string][] = [
      [
        {},
        `kith: Another Kith is up at ${url} and uses the data folder ${data}; stop it, or set KITH_DATA to another folder.`,
      ],
      [
        { KITH_DATA: other, PORT: new URL(url).port },
        `kith: Another Kith is up at ${url}; stop it, or set PORT to another port.`,
      ],
      [
        { KITH_DATA: other, PORT: String(port) },
        /127\.0\.0\.1:\d+ is taken by another program; set PORT to another port\./,
      ],
      [
        { KITH_DATA: other, INTERNAL_PORT: String(port) },
        /127\.0\.0\.1:\d+ is taken by another program; set INTERNAL_PORT to another port\./,
      ],
      [{ KITH_DATA: other, PORT: 'eighty' }, /PORT: /],
      [{ KITH_DATA: '/dev/null/kith' }, /The data folder \/dev\/null\/kith cannot be created/],
    ];
    // Nothing can be created below /proc. There, the system reports a missing parent folder (ENOENT) at every attempt. So
    // Node's `mkdir` with `recursive: true` would try for ever.
    if (process.platform === 'linux') {
      cases.push([{ KITH_DATA: '/proc/kith/data' }, /The data folder \/proc\/kith\/data cannot be created/]);
    }
    for (const [env, sentence] of cases) {
      const failed = await start(env);
      // If the start succeeds by mistake, this signal ends the platform.
      failed.signal('SIGINT');
      expect(await failed.exited).toBe(1);
      expect(failed.output()).toMatch(sentence);
      expect(failed.output().trim().split('\n')).toHaveLength(1);
    }
    expect(curlLines(kith.output())).toHaveLength(1);
    taken.close();
    await rm(other, { recursive: true, force: true });
  }, 90_000);

  it('uses another internal port if the usual port is taken, and says so; in production, it does not start', async () => {
    // Other suites use this port, too, but only for a time. So the test has to hold the port itself.
    const usual = await waitFor(() => listening(9090).catch(() => undefined), {
      timeoutMs: 120_000,
      what: 'port 9090',
    });
    {
      await using kith = await start();
      const [url, rest] = internalIn(kith.output());
      expect(rest).toBe(
        '(/healthz, /readyz, /metrics); port 9090 is taken, set INTERNAL_PORT to choose another',
      );
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    }
    {
      // In production the platform must not take another port, because monitoring would then watch the wrong program.
      const production = await mkdtemp(join(tmpdir(), 'kith-production-'));
      const KITH_SECRET = 'a secret from outside of the data folder';
      const failed = await start({ KITH_DATA: production, NODE_ENV: 'production', KITH_SECRET });
      // If the start succeeds by mistake, this signal ends the platform.
      failed.signal('SIGINT');
      expect(await failed.exited).toBe(1);
      expect(failed.output()).toMatch(
        /:9090 is taken by another program; set INTERNAL_PORT to another port\./,
      );
      await rm(production, { recursive: true, force: true });
    }
    usual.close();
    const port = await freePort();
    await using kith = await start({ INTERNAL_PORT: String(port) });
    expect(internalIn(kith.output())).toEqual([`http://127.0.0.1:${port}`, '(/healthz, /readyz, /metrics)']);
  }, 240_000);

  it('makes no demo, and signs no test tokens, in production', async () => {
    const production = await mkdtemp(join(tmpdir(), 'kith-production-'));
    const KITH_SECRET = 'a secret from outside of the data folder';
    const env = { KITH_DATA: production, PORT: '0', INTERNAL_PORT: '0', NODE_ENV: 'production', KITH_SECRET };
    const kith = await startByKith({ env, until: 'no demo project' });
    // The log lines contain addresses, too. So the patterns match only lines of the start's own text.
    const url = /^Kith is up at (http:\/\/127\.0\.0\.1:\d+)/m.exec(kith.output())?.[1];
    expect(kith.output()).toMatch(/^Internally: http:\/\/127\.0\.0\.1:\d+ /m);
    const path = '/v7/00000000-0000-0000-0000-000000000000/crypto/sign-testing-jwt';
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      format: 'pem',
      type: 'pkcs8',
    });
    const body = JSON.stringify({
      projectId: 'p',
      privateKey: Buffer.from(key).toString('base64'),
      payload: { id: 'u' },
    });
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: 'No such endpoint.', code: 'route/not-found' },
    ]);
    expect((await fetch(`${url}${path}`)).status).toBe(404);
    kith.signal('SIGINT');
    expect(await kith.exited).toBe(0);
    await rm(production, { recursive: true, force: true });
  });
});
