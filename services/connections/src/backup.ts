import { anonymousProfile, type ServiceBackup } from '@kith/store';
import type { AnyStored, MadeUp } from '@kith/store/backup';
import { placed } from './listing.ts';
import { strangers } from './pair.ts';
import { changeOf } from './store/change.ts';
import { declared, declines, entries, pairs, totals } from './store/collections.ts';
import { pairId, totalsId, usersOf } from './store/keys.ts';
import { pairOf } from './store/stored.ts';

/** The data of the connections service in a backup. */
export const connectionsBackup: ServiceBackup = {
  service: 'connections',
  declared,
  follows: [entries, declines].map((rows) => ({
    rows,
    target: pairs,
    of(target) {
      const { projectId, lower, higher } = usersOf(target.id);
      const { rows: all = [] } = changeOf(strangers(projectId, lower, higher), pairOf(target));
      return all.filter((row) => row.in === rows).map(({ id }) => id);
    },
  })),
  counted: [
    {
      rows: entries,
      counters: totals,
      add({ id }) {
        const { projectId, ownerId, list } = placed(id);
        return { id: totalsId(projectId, ownerId), add: { [list]: 1 } };
      },
    },
  ],
  standing: ({ projectId, aggregate }, copied) => ({
    seq: copied.find(pairs, `${projectId}|${aggregate.id.replace(':', '|')}`)?.seq,
  }),
  anonymous: {
    pairs(stored, made) {
      const { id, doc } = made.mapped(stored);
      const { projectId, lower, higher } = usersOf(id);
      const request = doc.request && { ...doc.request, message: greeting(doc.request.message) };
      // In an anonymous copy, the two users have new ids. So the order of the two ids in the pair's id may have changed.
      return { id: pairId(strangers(projectId, lower, higher)), doc: { ...doc, request } };
    },
    entries: anonymousMessage,
    declines: anonymousMessage,
    settings: (stored, made) => made.mapped(stored),
    endedUsers: (stored, made) => made.mapped(stored),
    profiles: anonymousProfile,
  },
};

function anonymousMessage(stored: AnyStored, made: MadeUp): AnyStored {
  const { id, doc } = made.mapped(stored);
  return { id, doc: { ...doc, message: greeting(doc.message) } };
}

function greeting(message: string | null): string | null {
  return message === null ? null : 'Hello!';
}
