import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EventRecord, type PlatformEvent } from './event-record.ts';

const bytes = (event: object) => new TextEncoder().encode(JSON.stringify(event));
const event = (type: string, actorId: string) => ({ id: randomUUID(), type, actorId });

describe('EventRecord', () => {
  it('waitFor finds events from before and after the call, and the record has each event once and in order', async () => {
    const record = new EventRecord();
    const [first, second] = [event('user.created', 'a'), event('user.updated', 'a')];
    record.add(bytes(first));
    expect(await record.waitFor('user.created')).toEqual(first);
    const coming = record.waitFor('user.updated');
    record.add(bytes(first));
    record.add(bytes(second));
    expect(await coming).toEqual(second);
    expect(record.all).toEqual([first, second]);
  });

  it('waitFor finds only events that the condition accepts', async () => {
    const record = new EventRecord();
    for (const actor of ['a', 'b']) record.add(bytes(event('user.created', actor)));
    const ofB = { actorId: 'b' };
    expect(await record.waitFor('user.created', { where: ({ actorId }) => actorId === 'b' })).toMatchObject(
      ofB,
    );
    expect(await record.waitFor(({ actorId }) => actorId === 'b')).toMatchObject(ofB);
  });

  it('waitFor can consider only events after the call, or only events after a given event', async () => {
    const record = new EventRecord();
    record.add(bytes(event('user.updated', 'before')));
    const later = [
      record.waitFor('user.updated', { since: 'now' }),
      record.waitFor('user.updated', { since: record.all[0] as PlatformEvent }),
    ];
    record.add(bytes(event('user.updated', 'after')));
    for (const one of await Promise.all(later)) expect(one.actorId).toBe('after');
    const unknown = event('user.updated', 'elsewhere') as PlatformEvent;
    await expect(record.waitFor('user.updated', { since: unknown })).rejects.toThrow(RangeError);
  });

  it('waitFor rejects if no event comes in time or if the platform ends', async () => {
    const record = new EventRecord();
    for (const type of ['user.created', 'user.created', 'session.revoked'])
      record.add(bytes(event(type, 'a')));
    await expect(record.waitFor('user.deleted', { timeoutMs: 1 })).rejects.toThrow(
      /vain for user\.deleted; seen so far: 2 user\.created, 1 session\.revoked/,
    );
    const waiting = record.waitFor('user.deleted');
    record.end();
    await expect(waiting).rejects.toThrow('The platform has ended without user.deleted.');
  });

  it('waitFor rejects with the error that the predicate throws', async () => {
    const record = new EventRecord();
    const waiting = record.waitFor(() => {
      throw new Error('not so');
    });
    record.add(bytes(event('user.created', 'a')));
    await expect(waiting).rejects.toThrow('not so');
  });
});
