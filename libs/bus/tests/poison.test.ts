// Starts no platform and at most 38 processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@kith/base';
import { availableEngines, eraseEngines, startEngines, uniquePrefix, waitFor } from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, test } from 'vitest';
import { EventLog } from '../src/event-log.ts';
import { NatsBus } from '../src/nats.ts';
import { streamNames } from '../src/stream-names.ts';
import type { PoisonWork } from './poison-support/child.ts';
import type { NatsPoisonWork } from './poison-support/nats-child.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-poison-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a child until it ends. Returns the deliveries that it received and whether it was killed. */
async function runChild(
  work: PoisonWork | NatsPoisonWork,
): Promise<{ killed: boolean; deliveries: string[] }> {
  const file = 'url' in work ? './poison-support/nats-child.ts' : './poison-support/child.ts';
  const script = new URL(file, import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`child ended with ${code ?? signal}`);
  return { killed: signal === 'SIGKILL', deliveries: out.split('\n').filter((line) => line !== '') };
}

/** Connects to NATS with a new prefix. Disposing `undo` closes the bus and deletes its data. */
async function onNats(undo: AsyncDisposableStack) {
  const engines = undo.use(await startEngines());
  const prefix = uniquePrefix();
  undo.defer(() => eraseEngines(engines, prefix));
  const { natsUrl: url } = engines;
  const bus = undo.adopt(await NatsBus.connect({ url, name: 'test', prefix, log }), (one) => one.close());
  return { bus, url, prefix, subject: `${prefix}.event.p.thing.made` };
}

// The events of a dead process are delivered again only after a pause. So these tests run at the same time.
test.concurrent('an event that kills its process is given up after its last attempt, and the other events are handled', async ({
  expect,
}) => {
  const file = join(folder, 'events.sqlite');
  const events = new EventLog({ prefix: 'x', file, log });
  for (const id of ['before', 'poison', 'after']) {
    events.append({ subject: 'x.event.p.thing.made', id, body: new TextEncoder().encode(id) });
  }
  await events.close();
  const work = { file, poison: 'poison', last: 'last', maxDeliveries: 3 };
  const runs: Awaited<ReturnType<typeof runChild>>[] = [];
  do runs.push(await runChild(work));
  while (runs.at(-1)?.killed && runs.length < 8);

  expect(runs.map(({ killed }) => killed)).toEqual([true, true, true, false]);
  const deliveries = runs.flatMap((run) => run.deliveries);
  expect(deliveries.filter((line) => line.startsWith('poison'))).toEqual([
    'poison 1',
    'poison 2',
    'poison 3',
  ]);
  const left = new EventLog({ prefix: 'x', file, log });
  expect(left.deadLetters('d').map(({ id, error }) => ({ id, error }))).toEqual([
    { id: 'poison', error: 'Error: the attempt was broken off' },
  ]);
  const intake = left.consume({ durable: 'd', subjects: ['x.>'] }, async ({ id, delivery }) => {
    deliveries.push(`${id} ${delivery}`);
  });
  // This consumer gets the events that the last child has not handled. In total, every event except the poison event arrives
  // once.
  await waitFor(() => deliveries.includes('last 1'));
  await intake.drain();
  expect(deliveries.filter((line) => !line.startsWith('poison'))).toEqual(['before 1', 'after 1', 'last 1']);
  await left.close();
}, 60_000);

test.concurrent('an event that kills its process is given up even if its consumer’s database loses every note of progress', async ({
  expect,
}) => {
  const file = join(folder, 'forgetful.sqlite');
  const events = new EventLog({ prefix: 'x', file, log });
  events.append({ subject: 'x.event.p.thing.made', id: 'poison', body: new Uint8Array() });
  await events.close();
  const work = { file, poison: 'poison', last: 'last', maxDeliveries: 2, isForgetful: true };
  const runs: Awaited<ReturnType<typeof runChild>>[] = [];
  do runs.push(await runChild(work));
  while (runs.at(-1)?.killed && runs.length < 5);
  expect(runs.map(({ killed }) => killed)).toEqual([true, true, false]);
  // One more process starts after the event was given up. It does not get the event again.
  const { deliveries } = await runChild(work);
  expect(deliveries.filter((line) => line.startsWith('poison'))).toEqual([]);
}, 60_000);

test.runIf(availableEngines().includes('containers'))(
  'on NATS, an event that kills its process is given up alone, and events that were fetched with it are handled',
  { concurrent: true, timeout: 120_000 },
  async ({ expect }) => {
    await using undo = new AsyncDisposableStack();
    const { bus, subject, ...place } = await onNats(undo);
    const others = Array.from({ length: 48 }, (_, at) => `other-${at}`);
    const ids = ['first', 'poison', ...others];
    for (const id of ids) await bus.publish({ subject, id, body: new Uint8Array() });
    const work = { ...place, durable: 'd', subject, poisons: ['poison'], maxDeliveries: 6 };
    const runs: Awaited<ReturnType<typeof runChild>>[] = [];
    do runs.push(await runChild(work));
    while (runs.at(-1)?.killed && runs.length < 10);

    expect((await bus.deadLetters('d')).map(({ id }) => id)).toEqual(['poison']);
    const deliveries = runs.flatMap((run) => run.deliveries).map((line) => line.split(' ')[0] ?? '');
    expect(deliveries.filter((id) => id === 'poison')).toHaveLength(6);
    expect(new Set(deliveries)).toEqual(new Set(ids));
  },
);

test.runIf(availableEngines().includes('containers'))(
  'on NATS, events that only fail get all their attempts, although many of them fail together',
  { concurrent: true, timeout: 60_000 },
  async ({ expect }) => {
    await using undo = new AsyncDisposableStack();
    const { bus, subject } = await onNats(undo);
    const ids = Array.from({ length: 10 }, (_, at) => `event-${at}`);
    for (const id of ids) await bus.publish({ subject, id, body: new Uint8Array() });
    // In the first two of the four attempts, each event waits for the others and fails at the same moment as they do. So the
    // events are delivered again together.
    const rounds = [1, 2].map(() => ({ arrived: 0, all: Promise.withResolvers<void>() }));
    const attempts: string[] = [];
    const options = {
      durable: 'd',
      subjects: [subject],
      atOnce: ids.length,
      maxDeliveries: 4,
      backoffMs: [100],
    };
    const intake = await bus.consume(options, async ({ id, delivery }) => {
      attempts.push(`${id} ${delivery}`);
      const round = rounds[delivery - 1];
      if (round && ++round.arrived === ids.length) round.all.resolve();
      await round?.all.promise;
      throw new Error('cannot be handled');
    });
    await waitFor(async () => (await bus.deadLetters('d')).length === ids.length);
    await intake.drain();

    expect(attempts.toSorted()).toEqual(
      ids.flatMap((id) => [1, 2, 3, 4].map((delivery) => `${id} ${delivery}`)),
    );
    const errors = (await bus.deadLetters('d')).map(({ error }) => error);
    expect(new Set(errors)).toEqual(new Set(['Error: cannot be handled']));
  },
);

test.runIf(availableEngines().includes('containers'))(
  'on NATS, each of several events that kill their process gets its attempts, although new events arrive before them',
  { concurrent: true, timeout: 180_000 },
  async ({ expect }) => {
    await using undo = new AsyncDisposableStack();
    const { bus, subject, ...place } = await onNats(undo);
    const poisons = ['poison-1', 'poison-2'];
    const ids = ['first', ...poisons, 'other-1', 'other-2', 'other-3'];
    for (const id of ids) await bus.publish({ subject, id, body: new Uint8Array() });
    const work = { ...place, durable: 'd', subject, poisons, maxDeliveries: 6 };
    const runs: Awaited<ReturnType<typeof runChild>>[] = [];
    do {
      const id = `new-${runs.length}`;
      ids.push(id);
      await bus.publish({ subject, id, body: new Uint8Array() });
      runs.push(await runChild(work));
    } while (runs.at(-1)?.killed && runs.length < 15);

    expect((await bus.deadLetters('d')).map(({ id }) => id).sort()).toEqual(poisons);
    const deliveries = runs.flatMap((run) => run.deliveries).map((line) => line.split(' ')[0] ?? '');
    expect(new Set(deliveries)).toEqual(new Set(ids));
    // Before the first redelivery, many events are fetched together. So an event may have lost up to two of its six deliveries
    // when other events killed the process.
    for (const poison of poisons)
      expect(deliveries.filter((id) => id === poison).length).toBeGreaterThanOrEqual(4);
  },
);

test.runIf(availableEngines().includes('containers'))(
  'on NATS, an event that was fetched for its last attempt gets this attempt, even if its consumer stops',
  { concurrent: true, timeout: 60_000 },
  async ({ expect }) => {
    await using undo = new AsyncDisposableStack();
    const { bus, subject, url, prefix } = await onNats(undo);
    const attempts: string[] = [];
    const gate = Promise.withResolvers<void>();
    const options = { durable: 'd', subjects: [subject], atOnce: 2, maxDeliveries: 2, backoffMs: [1] };
    for (const id of ['busy', 'event']) await bus.publish({ subject, id, body: new Uint8Array() });
    const intake = await bus.consume(options, async ({ id, delivery }) => {
      attempts.push(`${id} ${delivery}`);
      if (id === 'busy') return gate.promise;
      throw new Error('cannot be handled');
    });
    const own = undo.adopt(await connect({ servers: url }), (one) => one.close());
    const { consumers } = await jetstreamManager(own);
    // Waits until the event was delivered for the second time. The consumer does not handle it yet, because it is still
    // handling `busy`.
    await waitFor(
      async () => (await consumers.info(streamNames(prefix).events, 'd')).delivered.consumer_seq === 3,
      { what: 'its last delivery' },
    );
    const stopped = intake.drain();
    gate.resolve();
    await stopped;

    expect(attempts.toSorted()).toEqual(['busy 1', 'event 1', 'event 2']);
    expect((await bus.deadLetters('d')).map(({ id, error }) => [id, error])).toEqual([
      ['event', 'Error: cannot be handled'],
    ]);
  },
);
