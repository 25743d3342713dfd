import { type EventOf, project, sessionRevoked, userDeleted } from '@kith/contracts';
import type { ServiceBackup } from '@kith/store/backup';
import { mailings } from './store/collections/mails.ts';
import { deletingProjects, projects, type StoredProject } from './store/collections/projects.ts';
import { factorNotices, factors, sessions } from './store/collections/sign-in.ts';
import { blocks, deletedUsers, suspensions, users } from './store/collections/users.ts';
import { declared } from './store/collections.ts';
import { lastIn, userKey, within } from './store/keys-of.ts';
import { sealed } from './store/sealed.ts';

/** Identity's data in a backup. */
export const identityBackup: ServiceBackup = {
  service: 'identity',
  declared,
  follows: [
    { rows: suspensions, target: users, of: ({ id }) => [id] },
    { rows: mailings, target: users, of: ({ id }) => within(id) },
    { rows: factorNotices, target: factors, of: ({ id }) => [id] },
  ],
  insteadOf: [
    { rows: deletedUsers, target: users },
    { rows: deletingProjects, target: projects },
  ],
  // The blocks belong to the connections service, and identity has a copy of them. A backup reads the data of the connections
  // service before identity's data. Identity's copy of the blocks has to be read even earlier.
  early: [blocks],
  standing({ type, projectId, aggregate, data }, copied) {
    if (type === sessionRevoked.type) {
      const { userId, sessionId } = data as EventOf<typeof sessionRevoked>['data'];
      const own = copied
        .range(sessions, within(projectId, userId))
        .find(({ id }) => lastIn(id) === sessionId);
      return { seq: own && (own.doc.revokedAt === null ? 0 : 1), isLast: true };
    }
    const seq = copied.find(users, userKey(projectId, aggregate.id))?.seq;
    return { seq, isLast: type === userDeleted.type };
  },
  sealed,
  anonymous: {
    projects(stored, made) {
      const { id, doc } = made.mapped(stored);
      return { id, doc: anonymousProject(id, doc) };
    },
    deletingProjects(stored, made) {
      const { id, doc } = made.mapped(stored);
      return { id, doc: { ...doc, project: anonymousProject(id, projects.schema.parse(doc.project)) } };
    },
    deletedProjects: (stored, made) => made.mapped(stored),
    users(stored, made) {
      const { id, doc } = made.mapped(stored);
      const user = made.user({ ...doc, id: lastIn(id) });
      const email = doc.email && `${made.person(lastIn(id)).username}@example.com`;
      const { id: _, ...rest } = user;
      const passwordHash = doc.passwordHash && made.passwordHash;
      return { id, doc: { ...rest, email, passwordHash, keptSession: null } };
    },
    suspensions(stored, made) {
      const { id, doc } = made.mapped(stored);
      return { id, doc: { ...doc, reason: null } };
    },
    seen: (stored, made) => made.mapped(stored),
    deletedUsers: (stored, made) => made.mapped(stored),
    endedUsers: (stored, made) => made.mapped(stored),
    blocks: (stored, made) => made.mapped(stored),
    // An anonymous copy gets no keys, because identity makes new ones when it first starts with the copy.
    keys: () => null,
    hashKeys: () => null,
    revokedKeys: () => null,
    // The copy contains no API keys, because with them somebody could get into the installation from which the copy was made.
    apiKeys: () => null,
    keyUses: () => null,
    sessions: () => null,
    sessionUses: () => null,
    factors: () => null,
    factorNotices: () => null,
    // The copy contains no mails, because they are addressed to people who are not in the anonymous copy.
    mailings: () => null,
    resetRequests: () => null,
    sentMails: () => null,
    hashKinds: () => null,
    attempts: () => null,
    // The copy contains none of these rows, because they hold ids and addresses of people who are not in the copy.
    audits: () => null,
    erasedExternals: () => null,
  },
};

function anonymousProject(id: string, stored: StoredProject): StoredProject {
  return {
    ...stored,
    name: `Project ${id.slice(0, 4)}`,
    publicKey: null,
    limits: project.shape.limits.parse(stored.limits),
    webOrigins: [],
    mailLinkBase: null,
    mailTexts: {},
  };
}
