// Starts no platform and at most 16 processes.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@kith/base';
import { streamNames } from '@kith/bus';
import { NatsBus } from '@kith/bus/nats';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { EventRecord } from '../src/event-record.ts';
import { availableEngines, eraseEngines, startEngines, startOwnNats, uniquePrefix } from '../src/index.ts';
import { watchNats } from '../src/watch-events.ts';

const hasEngines = availableEngines().includes('containers');
const log = createLogger({ name: 'test', level: 'silent' });

/** The configuration of a server that accepts only one user. */
const config = `port: 4222, http: 8222, max_payload: 4194304, jetstream { store_dir: "/data" }
  authorization { user: kith, password: "a secret" }`;

it.runIf(hasEngines)('events are recorded and erased even with several servers and a password', async () => {
  await using ending = new AsyncDisposableStack();
  const engines = ending.use(await startEngines());
  const folder = ending.use(await mkdtempDisposable(join(tmpdir(), 'kith-nats-')));
  await chmod(folder.path, 0o755);
  await writeFile(join(folder.path, 'nats.conf'), config);
  const { server } = ending.use(await startOwnNats(join(folder.path, 'nats.conf')));
  const natsUrl = `nats://kith:a%20secret@127.0.0.1:1,${server.url}`;
  const prefix = uniquePrefix();
  const bus = await NatsBus.connect({ url: natsUrl, name: 'test', prefix, log });
  ending.defer(() => bus.close());
  const event = { id: randomUUID(), type: 'user.deleted' };
  const body = new TextEncoder().encode(JSON.stringify(event));
  await bus.publish({ id: event.id, subject: `${prefix}.event.${randomUUID()}.user.deleted`, body });

  const record = new EventRecord();
  ending.use(await watchNats(natsUrl, prefix, record));
  expect(await record.waitFor('user.deleted')).toEqual(event);

  await eraseEngines({ ...engines, natsUrl }, prefix);
  const access = { user: 'kith', pass: 'a secret' };
  const connection = await connect({ servers: new URL(server.url).host, ...access });
  ending.defer(() => connection.close());
  const { streams } = await jetstreamManager(connection);
  await expect(streams.info(streamNames(prefix).events)).rejects.toThrow('not found');
});
