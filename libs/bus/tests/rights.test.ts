// Starts no platform and at most 20 processes.
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@kith/base';
import { listenAtStart } from '@kith/bus';
import { NatsBus } from '@kith/bus/nats';
import { availableEngines, layLine, startOwnNats, uniquePrefix, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The configuration of a server whose user may subscribe only to its inbox, and may not create streams. */
const config = `port: 4222, http: 8222, max_payload: 4194304, jetstream { store_dir: "/data" }
  authorization { users: [{ user: test, password: test, permissions: {
    publish: { deny: "$JS.API.STREAM.CREATE.>" }, subscribe: { allow: "_INBOX_test.>" } } }] }`;

describe.runIf(availableEngines().includes('containers'))('a start without rights on NATS', () => {
  const prefix = uniquePrefix();
  const undo = new AsyncDisposableStack();
  let url: string;
  beforeAll(async () => {
    const folder = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-nats-')));
    await chmod(folder.path, 0o755);
    await writeFile(join(folder.path, 'nats.conf'), config);
    url = undo.use(await startOwnNats(join(folder.path, 'nats.conf'))).server.url;
  });
  afterAll(() => undo.disposeAsync());

  const connect = async (host = new URL(url).host) => {
    const log = createLogger({ name: 'test', level: 'silent' });
    const bus = await NatsBus.connect({
      ...{ url: `nats://test:test@${host}`, name: 'test', prefix, log, startMs: 300 },
    });
    return undo.adopt(bus, (one) => one.close());
  };
  const subject = `${prefix}.rpc.test.run`;
  const refusal = { name: 'StartError', message: expect.stringContaining(`the subscription to ${subject}:`) };

  test('ends if NATS refuses a subscription', async () => {
    const bus = await connect();
    await expect(bus.serve(subject, 'test', async (asked) => asked)).rejects.toMatchObject(refusal);
    await expect(listenAtStart(bus, subject, () => undefined)).rejects.toMatchObject(refusal);
  });

  test('ends if NATS refuses a subscription after the connection was broken', async () => {
    await using line = await layLine(new URL(url));
    const bus = await connect(line.address);
    line.cut();
    await waitFor(() => !bus.isConnected());
    const refused = expect(bus.serve(subject, 'test', async (asked) => asked)).rejects.toMatchObject(refusal);
    line.mend();
    await refused;
  });

  test('ends if no keeper creates the streams', async () => {
    const bus = await connect();
    const consuming = bus.consume(
      { durable: 'test', subjects: [`${prefix}.event.>`] },
      async () => undefined,
    );
    await expect(consuming).rejects.toThrow(/^The stream \S+ is missing.+ Start the keeper/);
  });
});
