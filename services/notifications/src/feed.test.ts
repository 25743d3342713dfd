import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  append,
  closeStream,
  type Entry,
  emptyFeed,
  expire,
  type Feed,
  markAll,
  openStream,
  readAtOf,
  remove,
  toItem,
} from './feed.ts';

const owner = {
  projectId: '00000000-0000-4000-8000-000000000001',
  userId: '00000000-0000-4000-8000-00000000000a',
};
const id = '00000000-0000-4000-8000-00000000000c';
const metadata = {
  connectionId: id,
  initiatorId: id,
  initiatorName: null,
  initiatorUsername: null,
  initiatorAvatar: null,
};

function add(feed: Feed, createdAt = 0) {
  return append(feed, { ...owner, id, type: 'connection-request', metadata, createdAt, keepUntil: 1 });
}

describe('a feed', () => {
  it('has the right counts after any sequence of changes, and its feed sequence never gets smaller', () => {
    const step = fc.record({
      action: fc.constantFrom('add', 'read', 'all', 'remove', 'expire'),
      pick: fc.nat(50),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let feed: Feed = emptyFeed;
        let entries: Entry[] = [];
        let added = 0;
        for (const [at, { action, pick }] of steps.entries()) {
          const entry = entries[pick % Math.max(entries.length, 1)];
          if (action === 'add') {
            const made = add(feed);
            feed = made.feed;
            entries.push(made.entry);
            expect(made.entry.seq).toBe(++added);
          } else if (action === 'all') feed = markAll(feed, at);
          else if (entry && action === 'read' && readAtOf(entry, feed) === null) {
            entry.readAt = at;
            feed = { ...feed, unread: feed.unread - 1 };
          } else if (entry && (action === 'remove' || action === 'expire')) {
            feed = action === 'remove' ? remove(feed, [entry]) : expire(feed, [entry]);
            entries = entries.filter((one) => one !== entry);
          }
        }
        expect(feed.seq).toBe(added);
        expect(feed.total).toBe(entries.length);
        expect(feed.unread).toBe(entries.filter((one) => readAtOf(one, feed) === null).length);
      }),
    );
  });

  it('keeps the time at which a notification was read, no matter how often all are marked as read again', () => {
    const first = add(emptyFeed);
    const second = add(markAll(first.feed, 10));
    const feed = markAll(second.feed, 20);
    expect([readAtOf(first.entry, feed), readAtOf(second.entry, feed)]).toEqual([10, 20]);
    let later = feed;
    for (let at = 30; at < 130; at++) later = markAll(add(later).feed, at);
    expect(later.marks.length).toBeLessThanOrEqual(50);
    expect(readAtOf(first.entry, later)).not.toBeNull();
  });

  it('shows no `updatedAt` before `createdAt`, even on a machine whose clock is behind', () => {
    const { feed, entry } = add(emptyFeed, 1_000);
    const item = toItem({ ...entry, readAt: 500 }, feed);
    expect(item.updatedAt).toBe(item.createdAt);
  });

  it('remembers the highest sequence of an expired notification, but not that of a removed one', () => {
    const first = add(emptyFeed);
    const second = add(first.feed);
    expect(remove(second.feed, [second.entry]).expiredTo).toBe(0);
    expect(expire(second.feed, [first.entry]).expiredTo).toBe(1);
  });

  it('keeps the newest five open streams', () => {
    let feed: Feed = emptyFeed;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) feed = openStream(feed, name);
    expect(feed.streams).toEqual(['b', 'c', 'd', 'e', 'f']);
    expect(openStream(closeStream(feed, 'd'), 'g').streams).toEqual(['b', 'c', 'e', 'f', 'g']);
    expect(closeStream(feed, 'x')).toEqual(feed);
    expect(openStream(feed, 'd').streams).toEqual(['b', 'c', 'e', 'f', 'd']);
  });
});
