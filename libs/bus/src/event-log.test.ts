import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createLogger } from '@kith/base';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConsumeOptions, Delivery } from './bus.ts';
import { EventLog } from './event-log.ts';

let folder: string;
const log = createLogger({ name: 'test', level: 'silent' });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-events-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const publish = (events: EventLog, id: string) =>
  events.append({ subject: 'x.event.p.thing.made', id, body: new TextEncoder().encode(id) });

/** Consumes events. The handler throws for the ids in `failing`. */
function consume(events: EventLog, failing: readonly string[] = [], more: Partial<ConsumeOptions> = {}) {
  const seen: Delivery[] = [];
  const options = { durable: 'd', subjects: ['x.event.>'], maxDeliveries: 3, backoffMs: [20], ...more };
  const intake = events.consume(options, async (delivery) => {
    seen.push(delivery);
    if (failing.includes(delivery.id)) throw new Error('not handled');
  });
  return { seen, ids: () => seen.map(({ id }) => id), drain: () => intake.drain() };
}

test('positions, retries and dead letters still exist after a restart of the process', async () => {
  const file = join(folder, 'restart.sqlite');
  const first = new EventLog({ prefix: 'x', file, log });
  const before = consume(first, ['b']);
  for (const id of ['a', 'b', 'c']) publish(first, id);
  await waitFor(() => before.ids().includes('c'));
  await first.close();
  const failures = before.ids().filter((id) => id === 'b').length;

  const second = new EventLog({ prefix: 'x', file, log });
  const after = consume(second, ['b']);
  publish(second, 'a');
  publish(second, 'd');
  await waitFor(() => after.ids().includes('d') && second.deadLetters('d').length === 1);
  expect(after.ids().filter((id) => id !== 'b')).toEqual(['d']);
  expect(failures + after.ids().filter((id) => id === 'b').length).toBe(3);
  expect(after.seen.at(-1)?.delivery).toBeLessThanOrEqual(3);
  await second.close();

  const third = new EventLog({ prefix: 'x', file, log });
  const last = consume(third);
  publish(third, 'e');
  await waitFor(() => last.ids().includes('e'));
  expect(last.ids()).toEqual(['e']);
  expect(third.deadLetters('d').map(({ id, error }) => ({ id, error }))).toEqual([
    { id: 'b', error: 'Error: not handled' },
  ]);
  await third.close();
});

test('an open log removes events that are over a week old and that every consumer has passed', async () => {
  const file = join(folder, 'old.sqlite');
  const events = new EventLog({ prefix: 'x', file, log, expireEveryMs: 20 });
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

test('events that are over a week old do not wait for a consumer that no service uses any more', async () => {
  const file = join(folder, 'former.sqlite');
  const first = new EventLog({ prefix: 'x', file, log });
  const former = consume(first, ['retried'], { durable: 'former', backoffMs: [3_600_000] });
  for (const id of ['passed', 'retried']) publish(first, id);
  await waitFor(() => former.ids().includes('retried'));
  await former.drain();
  publish(first, 'missed');
  const present = consume(first);
  await waitFor(() => present.ids().includes('missed'));
  publish(first, 'new');
  await waitFor(() => present.ids().includes('new'));
  await first.close();
  {
    using db = new DatabaseSync(file);
    db.exec("UPDATE events SET at = at - 8 * 24 * 3600 * 1000 WHERE id <> 'new'");
  }
  const ids = (events: EventLog) => [1, 2, 3, 4].map((position) => events.idAt(position));

  const unknown = new EventLog({ prefix: 'x', file, log });
  expect(ids(unknown)).toEqual([undefined, 'retried', 'missed', 'new']);
  await unknown.close();
  const behind = new EventLog({ prefix: 'x', file, log, durables: ['d', 'former'] });
  expect(ids(behind)).toEqual([undefined, 'retried', 'missed', 'new']);
  await behind.close();
  const second = new EventLog({ prefix: 'x', file, log, durables: ['d', 'never consumed'] });
  expect(ids(second)).toEqual([undefined, undefined, undefined, 'new']);
  // An earlier version of the service may use the consumer again. Then the consumer continues with the events that still exist.
  const again = consume(second, [], { durable: 'former' });
  await waitFor(() => again.ids().includes('new'));
  expect(again.ids()).toEqual(['new']);
  expect(second.backlog('former')).toMatchObject({ pending: 0, dead: 0 });
  await second.close();
});

test('many old events are removed in steps, so that other work runs in between', async () => {
  const file = join(folder, 'many.sqlite');
  const first = new EventLog({ prefix: 'x', file, log });
  const consumer = consume(first);
  const ids = Array.from({ length: 2_500 }, (_, at) => `old-${at}`);
  first.appendAll(ids.map((id) => ({ id, subject: 'x.event.p.thing.made', body: new Uint8Array() })));
  await waitFor(() => consumer.ids().length === ids.length);
  await first.close();
  {
    using db = new DatabaseSync(file);
    db.exec('UPDATE events SET at = at - 8 * 24 * 3600 * 1000');
  }
  // If a log is closed while it removes old events, the removal stops after the current step.
  await new EventLog({ prefix: 'x', file, log }).close();
  const third = new EventLog({ prefix: 'x', file, log });
  expect(third.state().first).toBe(2_001);
  await waitFor(() => third.state().first > ids.length);
  await third.close();
});

test('while the log cannot be written, other work goes on, and afterwards the consumer continues', async () => {
  const file = join(folder, 'full.sqlite');
  let interruptions = 0;
  const destination = { write: () => void interruptions++ };
  const heard = createLogger({ name: 'test', level: 'error', destination });
  const events = new EventLog({ prefix: 'x', file, log: heard });
  using db = new DatabaseSync(file, { timeout: 5_000 });
  const refused = ['UPDATE ON consumers', 'INSERT ON redeliveries'];
  let attempts = 0;
  events.consume({ durable: 'd', subjects: ['x.event.>'] }, async () => {
    if (++attempts > 1) return;
    // From now on, the end of this attempt cannot be stored.
    for (const [at, change] of refused.entries())
      db.exec(`CREATE TRIGGER full${at} BEFORE ${change} BEGIN SELECT RAISE(ABORT, 'disk is full'); END`);
  });
  publish(events, 'a');
  // If the consumer never yielded, this wait would never end.
  await waitFor(() => interruptions >= 3);
  for (const at of refused.keys()) db.exec(`DROP TRIGGER full${at}`);
  await waitFor(() => events.backlog('d').pending === 0);
  expect(attempts).toBe(2);
  await events.close();
});

test('dead letters are removed after 90 days', async () => {
  const file = join(folder, 'letters.sqlite');
  const events = new EventLog({ prefix: 'x', file, log, expireEveryMs: 20 });
  consume(events, ['old', 'new'], { maxDeliveries: 1 });
  for (const id of ['old', 'new']) publish(events, id);
  await waitFor(() => events.deadLetters('d').length === 2);
  {
    using db = new DatabaseSync(file, { timeout: 5_000 });
    db.exec("UPDATE dead_letters SET at = at - 91 * 24 * 3600 * 1000 WHERE id = 'old'");
  }
  await waitFor(() => events.deadLetters('d').length === 1);
  expect(events.deadLetters('d').map(({ id }) => id)).toEqual(['new']);
  await events.close();
});

test('if the clock is set back, an event does not wait longer for its next attempt', async () => {
  const file = join(folder, 'set-back.sqlite');
  const first = new EventLog({ prefix: 'x', file, log });
  const before = consume(first, ['a'], { backoffMs: [60_000] });
  publish(first, 'a');
  await waitFor(() => first.backlog('d').pending === 1 && before.ids().length === 1);
  await first.close();
  {
    using db = new DatabaseSync(file);
    db.exec('UPDATE redeliveries SET due = due + 24 * 3600 * 1000');
  }
  const second = new EventLog({ prefix: 'x', file, log });
  const after = consume(second);
  await waitFor(() => second.backlog('d').pending === 0);
  expect(after.ids()).toEqual(['a']);
  await second.close();
});

test('only the owner of an event log’s file can read and write the file', async () => {
  const file = join(folder, 'mode.sqlite');
  const events = new EventLog({ prefix: 'x', file, log });
  const { stat } = await import('node:fs/promises');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await events.close();
});

describe('a consumer whose database has lost applied events gets all of them again', () => {
  /**
   * The progress notes in a consumer's database. A test sets `position` back, as if an older copy had replaced the database.
   */
  function notes() {
    let log = '';
    const kept = { position: 0 };
    const progress: ConsumeOptions['progress'] = {
      read: () => ({ log, ...kept }),
      note(_, note) {
        ({ log, position: kept.position } = note);
      },
    };
    return { kept, progress };
  }

  test('if an attempt to apply a later event was broken off', async () => {
    const { kept, progress } = notes();
    const [file, copy] = [join(folder, 'broken-off.sqlite'), join(folder, 'broken-off-copy.sqlite')];
    const first = new EventLog({ prefix: 'x', file, log });
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    first.consume({ durable: 'd', subjects: ['x.event.>'], progress }, async ({ id }) => {
      if (id !== 'e') return;
      begun.resolve();
      await end.promise;
    });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) publish(first, id);
    await begun.promise;
    {
      using db = new DatabaseSync(file);
      db.prepare('VACUUM INTO ?').run(copy);
    }
    end.resolve();
    await first.close();

    kept.position = 2;
    const second = new EventLog({ prefix: 'x', file: copy, log });
    const after = consume(second, [], { progress });
    await waitFor(() => after.ids().includes('e') && after.ids().includes('f'));
    expect([...new Set(after.ids())].sort()).toEqual(['c', 'd', 'e', 'f']);
    expect(after.seen.find(({ id }) => id === 'e')?.delivery).toBe(2);
    await waitFor(() => second.backlog('d').pending === 0);
    await second.close();
    expect(kept.position).toBe(6);
  });

  test('if the next attempt of a later event is due first', async () => {
    const { kept, progress } = notes();
    const file = join(folder, 'due.sqlite');
    const first = new EventLog({ prefix: 'x', file, log });
    const before = consume(first, ['d'], { progress, backoffMs: [3_600_000] });
    for (const id of ['a', 'b', 'c', 'd', 'e']) publish(first, id);
    await waitFor(() => before.ids().includes('e'));
    await first.close();
    {
      using db = new DatabaseSync(file);
      db.exec('UPDATE redeliveries SET due = 0');
    }

    kept.position = 1;
    const second = new EventLog({ prefix: 'x', file, log });
    const after = consume(second, [], { progress });
    await waitFor(() => after.ids().includes('d') && after.ids().includes('e'));
    expect([...new Set(after.ids())].sort()).toEqual(['b', 'c', 'd', 'e']);
    expect(after.seen.find(({ id }) => id === 'd')?.delivery).toBe(2);
    await second.close();
    expect(kept.position).toBe(5);
  });

  test('except the events that it has given up', async () => {
    const { kept, progress } = notes();
    const file = join(folder, 'given-up.sqlite');
    const first = new EventLog({ prefix: 'x', file, log });
    const before = consume(first, ['b'], { progress, maxDeliveries: 1 });
    for (const id of ['a', 'b', 'c']) publish(first, id);
    await waitFor(() => before.ids().includes('c'));
    await first.close();

    kept.position = 0;
    const second = new EventLog({ prefix: 'x', file, log });
    const after = consume(second, [], { progress });
    expect(second.backlog('d')).toEqual({ pending: 2, dead: 1, position: 0 });
    await waitFor(() => after.ids().includes('c'));
    expect(after.ids()).toEqual(['a', 'c']);
    await after.drain();

    second.startOver('d');
    const again = consume(second, [], { progress });
    await waitFor(() => again.ids().includes('c'));
    expect(again.ids()).toEqual(['a', 'b', 'c']);
    expect(second.deadLetters('d')).toEqual([]);
    await second.close();
  });
});

test('after a change of the prefix, consumers get the events they missed, and dead letters can be replayed', async () => {
  const file = join(folder, 'prefix.sqlite');
  const first = new EventLog({ prefix: 'x', file, log });
  const before = consume(first, ['dead']);
  publish(first, 'dead');
  publish(first, 'read');
  await waitFor(() => before.ids().includes('read') && first.deadLetters('d').length === 1);
  await before.drain();
  publish(first, 'unread');
  await first.close();

  const second = new EventLog({ prefix: 'other', file, log });
  const after = consume(second, [], { subjects: ['other.event.>'] });
  second.replayDeadLetters('d');
  await waitFor(() => after.ids().length === 2);
  expect(after.ids().map((id) => id.split('~')[0])).toEqual(['unread', 'dead']);
  expect(new Set(after.seen.map(({ subject }) => subject))).toEqual(new Set(['other.event.p.thing.made']));
  await second.close();
});
