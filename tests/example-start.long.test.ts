// Quick counterpart: tests/photo.test.ts
// Starts no platform and at most 8 processes.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KithSettings } from '../examples/people/kith-settings.ts';
import { addAuthenticator } from './support/example/virtual-authenticator.ts';
import { signIn, visit } from './support/example/visitor.ts';
import { sharedBrowser } from './support/shared-browser.ts';
import { startScript } from './support/start-script.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

describe('npm run example', { timeout: 120_000 }, () => {
  let data: string;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'kith-example-start-'));
  });
  afterAll(() => rm(data, { recursive: true, force: true }));

  const start = (env: NodeJS.ProcessEnv = {}) =>
    startScript('tools/example.ts', {
      env: { KITH_DATA: data, PORT: '0', ...env },
      until: 'Ctrl-C ends it',
    });
  const addressIn = (output: string) => /http:\/\/localhost:\d+/.exec(output)?.[0] ?? '';
  const signInsIn = (output: string) =>
    [...output.matchAll(/^ {2}(\S+@example\.com) +(\S+)$/gm)].map(([, email = '', password = '']) => ({
      email,
      password,
    }));
  const settingsAt = async (url: string): Promise<KithSettings> =>
    (await fetch(`${url}/kith.json`)).json() as Promise<KithSettings>;

  it('keeps its people when it is started again, and ends on Ctrl-C', async () => {
    const first = await start();
    const signIns = signInsIn(first.output());
    expect(signIns.map(({ email }) => email)).toEqual(['ada@example.com', 'grace@example.com']);
    const { projectId } = await settingsAt(addressIn(first.output()));
    first.signal('SIGINT');
    expect(await first.exited).toBe(0);

    await using second = await start();
    expect(signInsIn(second.output())).toEqual(signIns);
    expect(await settingsAt(addressIn(second.output()))).toMatchObject({ projectId });

    const other = await start();
    other.signal('SIGINT');
    expect(await other.exited).toBe(1);
    const KITH_URL = (await settingsAt(addressIn(second.output()))).url;
    expect(other.output()).toContain(`Another Kith is up at ${KITH_URL} and uses the data`);

    // If KITH_URL names a running platform, the example creates no users on it.
    await using third = await start({ KITH_URL, KITH_PROJECT: projectId, KITH_DATA: join(data, 'none') });
    expect(await settingsAt(addressIn(third.output()))).toEqual({ url: KITH_URL, projectId });
    expect(signInsIn(third.output())).toEqual([]);
    // Links in mails do not lead to this page by themselves.
    const page = addressIn(third.output());
    const words = `npx kith projects update ${projectId} --mail-link-base '${page}/#/mail'`;
    expect(third.output()).toContain(words);
  });

  it('says in one sentence why it cannot start', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const cases: [NodeJS.ProcessEnv, RegExp][] = [
      [{ PORT: String(port) }, /localhost:\d+ is taken by another program; set PORT to another port\./],
      [{ KITH_URL: 'http://127.0.0.1:8080' }, /KITH_PROJECT: KITH_URL and KITH_PROJECT go together/],
    ];
    for (const [env, sentence] of cases) {
      const failed = await start(env);
      expect(await failed.exited).toBe(1);
      expect(failed.output()).toMatch(sentence);
      expect(failed.output().trim().split('\n')).toHaveLength(1);
    }
    taken.close();
  });

  it.skipIf(!browser)(
    'prints the addresses and passwords of two people, who can sign in and add a passkey',
    async () => {
      await using example = await start();
      const app = addressIn(example.output());
      const { url: api } = await settingsAt(app);
      for (const person of signInsIn(example.output())) {
        await using visitor = await visit(browser as Browser, { app, api });
        await signIn(visitor, person);
        await visitor.goTo('Connections');
        await visitor.page.getByRole('list', { name: 'Your connections' }).waitFor();
        await addAuthenticator(visitor.page);
        await visitor.goTo('Account');
        await visitor.button('Add a passkey').click();
        await visitor.button('I have kept them').click();
        await visitor.button(/^Remove Passkey of/).waitFor();
        // These are the messages on the browser's console. In development, React reports mistakes there, so this also shows
        // that React has found no mistake.
        expect(visitor.complaints).toEqual([]);
      }
    },
  );
});
