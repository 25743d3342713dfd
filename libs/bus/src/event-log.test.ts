import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createLogger } from '@kith/base';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Delivery } from './bus.ts';
import { EventLog } from './event-log.ts';

let folder: string;
const log = createLogger({ name: 'test', level: 'silent' });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-events-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const publish = (events: EventLog, id: string) =>
  events.append({ subject: 'x.event.p.thing.made', id, body: new TextEncoder().encode(id) });

/** Consumes events, and fails on those in `failing`. */
function consume(events: EventLog, failing: readonly string[] = []) {
  const seen: Delivery[] = [];
  const options = { durable: 'd', subjects: ['x.event.>'], maxDeliveries: 3, backoffMs: [20] };
  const intake = events.consume(options, async (delivery) => {
    seen.push(delivery);
    if (failing.includes(delivery.id)) throw new Error('not handled');
  });
  return { seen, ids: () => seen.map(({ id }) => id), drain: () => intake.drain() };
}

test('positions, retries and dead letters outlive the process', async () => {
  const file = join(folder, 'restart.sqlite');
  const first = new EventLog({ file, log });
  const before = consume(first, ['b']);
  for (const id of ['a', 'b', 'c']) publish(first, id);
  await waitFor(() => before.ids().includes('c'));
  await first.close();
  const failures = before.ids().filter((id) => id === 'b').length;

  const second = new EventLog({ file, log });
  const after = consume(second, ['b']);
  publish(second, 'a');
  publish(second, 'd');
  await waitFor(() => after.ids().includes('d') && second.deadLetters('d').length === 1);
  expect(after.ids().filter((id) => id !== 'b')).toEqual(['d']);
  expect(failures + after.ids().filter((id) => id === 'b').length).toBe(3);
  expect(after.seen.at(-1)?.delivery).toBeLessThanOrEqual(3);
  await second.close();

  const third = new EventLog({ file, log });
  const last = consume(third);
  publish(third, 'e');
  await waitFor(() => last.ids().includes('e'));
  expect(last.ids()).toEqual(['e']);
  expect(third.deadLetters('d').map(({ id, error }) => ({ id, error }))).toEqual([
    { id: 'b', error: 'Error: not handled' },
  ]);
  await third.close();
});

test('events that are over a week old go while it is open, once every consumer has passed them', async () => {
  const file = join(folder, 'old.sqlite');
  const events = new EventLog({ file, log, expireEveryMs: 20 });
  publish(events, 'old');
  publish(events, 'new');
  {
    using db = new DatabaseSync(file, { timeout: 5_000 });
    db.exec("UPDATE events SET at = at - 8 * 24 * 3600 * 1000 WHERE id = 'old'");
  }
  expect(events.idAt(1)).toBe('old');
  const consumer = consume(events);
  await waitFor(() => events.idAt(1) === undefined);
  expect(consumer.ids()).toEqual(['old', 'new']);
  expect(events.idAt(2)).toBe('new');
  await events.close();
});

test('the file is its owner’s alone', async () => {
  const file = join(folder, 'mode.sqlite');
  const events = new EventLog({ file, log });
  const { stat } = await import('node:fs/promises');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await events.close();
});
