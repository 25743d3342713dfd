// Starts no platform and no process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import {
  connectionUnblocked,
  type EventEnvelope,
  type EventSpec,
  eventSubject,
  userDeleted,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { eventKey } from '@kith/store';
import {
  availableEngines,
  type Engines,
  eraseEngines,
  startEngines,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { movedSecret } from './support/moved-installation.ts';

describe.runIf(availableEngines().includes('containers'))('a backup of the distributed form', () => {
  const prefix = uniquePrefix();
  const projectId = crypto.randomUUID();
  let folder: string;
  let engines: Engines;
  let client: MongoClient;
  let bus: NatsBus;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-letters-'));
    engines = await startEngines();
    client = await MongoClient.connect(engines.mongodbUrl);
    const log = createLogger({ name: 'test', level: 'silent' });
    bus = await NatsBus.connect({ url: engines.natsUrl, name: 'test', prefix, log });
  });
  afterAll(async () => {
    await bus?.close();
    await client?.close();
    if (engines) {
      await eraseEngines(engines, prefix);
      await engines[Symbol.asyncDispose]();
    }
    await rm(folder, { recursive: true, force: true });
  });

  const made = (type: EventSpec, of: { type: string; id: string }, data: unknown) =>
    makeEvent(type, {
      ...{ projectId, actorId: null, aggregate: { ...of, seq: 2 }, data },
      occurredAt: new Date(),
    }) as EventEnvelope;
  const deletion = () => {
    const id = crypto.randomUUID();
    return made(userDeleted, { type: 'user', id }, { id });
  };
  const unblocking = () => {
    const [blockerId, blockedId] = [crypto.randomUUID(), crypto.randomUUID()].sort();
    const pair = { type: 'pair', id: `${blockerId}:${blockedId}` };
    return made(connectionUnblocked, pair, { blockerId, blockedId, connectionId: null });
  };
  /**
   * Publishes an event. If `service` is given, also stores the event in the database of this service. Without `service`, no
   * database has the event, as is the case for old events.
   */
  const publish = async (event: EventEnvelope, service?: string) => {
    const text = JSON.stringify(event);
    const body = new TextEncoder().encode(text);
    const last = await bus.publish({ subject: eventSubject(prefix, event), id: event.id, body });
    if (service === undefined) return;
    const events = client.db(`${prefix}_${service}`).collection<{ _id: string }>('events');
    await events.insertOne({ _id: eventKey(event), event: text, at: new Date(), first: last, last } as never);
  };
  const lettersOf = async (durable: string, count: number) =>
    waitFor(async () => (await bus.backlog(durable)).dead === count, { what: `${count} dead letters` });
  const storedIn = (service: string) => {
    using file = new DatabaseSync(join(folder, 'backup', `${service}.sqlite`));
    const rows = file.prepare('SELECT event, published FROM events').all();
    return Object.fromEntries(rows.map(({ event, published }) => [JSON.parse(String(event)).id, published]));
  };

  it('the backup marks the events of dead letters as unpublished, even events that were replayed or are no longer stored', async () => {
    const [received, again, old] = [deletion(), deletion(), deletion()];
    const [waiting, oldWaiting, done] = [unblocking(), unblocking(), unblocking()];
    const failing = { durable: 'storage-users', subjects: [`${prefix}.event.*.user.>`], maxDeliveries: 1 };
    await bus.consume(failing, async ({ id }) => {
      if (id !== received.id) throw new Error('poison');
    });
    await publish(again, 'identity');
    await lettersOf(failing.durable, 1);
    await bus.replayDeadLetters(failing.durable);
    await publish(old);
    await lettersOf(failing.durable, 2);
    await publish(received, 'identity');

    const slow = {
      durable: 'identity-blocks',
      subjects: [`${prefix}.event.*.connection.>`],
      maxDeliveries: 1,
    };
    const intake = await bus.consume(slow, async ({ id }) => {
      if (id !== done.id) throw new Error('poison');
    });
    await publish(waiting, 'connections');
    await publish(oldWaiting);
    await publish(done, 'connections');
    // A dead letter can contain a message that is not an event.
    await bus.publish({
      subject: `${prefix}.event.p.connection.none`,
      id: 'none',
      body: new Uint8Array([1]),
    });
    await lettersOf(slow.durable, 3);
    await intake.drain();
    // Replays the dead letters while the consumer is stopped, so it has not received the replayed events yet.
    expect(await bus.replayDeadLetters(slow.durable)).toBe(3);
    await waitFor(async () => (await bus.backlog(failing.durable)).pending === 0, { what: 'the last event' });

    const env = {
      ...{ MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl },
      ...{ KITH_PREFIX: prefix, KITH_SECRET: movedSecret },
    };
    const backup = await runKith(['backup', join(folder, 'backup')], env);
    expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('the backup is in')]);
    expect(storedIn('identity')).toEqual({ [received.id]: 1, [again.id]: 0, [old.id]: 0 });
    expect(storedIn('connections')).toEqual({ [done.id]: 1, [waiting.id]: 0, [oldWaiting.id]: 0 });
  });
});
