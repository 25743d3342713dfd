import { anonymousProfile, type ServiceBackup } from '@kith/store';
import { isKiths } from './initiator.ts';
import { declared, entries, feeds, type StoredEntry } from './store/collections.ts';
import { endOf, feedKey } from './store/place.ts';

/** The data of the notifications service in a backup. */
export const notificationsBackup: ServiceBackup = {
  service: 'notifications',
  declared,
  follows: [
    {
      rows: entries,
      target: feeds,
      of({ id }) {
        const [projectId = '', userId = ''] = id.split('|');
        return { above: `${id}|`, below: endOf({ projectId, userId }) };
      },
    },
  ],
  standing: ({ projectId, aggregate }, copied) => ({
    seq: copied.find(feeds, feedKey({ projectId, userId: aggregate.id }))?.seq,
  }),
  anonymous: {
    feeds(stored, made) {
      const { id, doc } = made.mapped(stored);
      return { id, doc: { ...doc, streams: [] } };
    },
    entries(stored, made) {
      const { id, doc } = made.mapped(stored);
      const blank: Pick<StoredEntry, 'action' | 'metadata'> = { action: null, metadata: {} };
      // An application's notification can contain the name of any person, so its content is removed.
      if (!isKiths(doc)) return { id, doc: Object.assign({}, doc as StoredEntry, blank) };
      const { connectionId, initiatorId, initiatorName, initiatorUsername } = doc.metadata;
      const { name, username } = made.person(initiatorId);
      const metadata = {
        ...{ connectionId, initiatorId, initiatorAvatar: null },
        ...{ initiatorName: initiatorName && name, initiatorUsername: initiatorUsername && username },
      };
      return { id, doc: { ...doc, metadata } };
    },
    withdrawn: (stored, made) => made.mapped(stored),
    settings: (stored, made) => made.mapped(stored),
    endedUsers: (stored, made) => made.mapped(stored),
    profiles: anonymousProfile,
  },
};
