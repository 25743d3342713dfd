import { replyCollection } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { audits } from './collections/audits.ts';
import { apiKeys, hashKeys, keys, keyUses, revokedKeys } from './collections/keys.ts';
import { mailings, resetRequests, sentMails } from './collections/mails.ts';
import { deletedProjects, deletingProjects, hashKinds, projects } from './collections/projects.ts';
import { attempts, factorNotices, factors, sessions, sessionUses } from './collections/sign-in.ts';
import {
  blocks,
  deletedUsers,
  endedUsers,
  erasedExternals,
  seen,
  suspensions,
  users,
} from './collections/users.ts';

/** Everything that identity stores. */
export const declared: Declared = {
  collections: [
    ...[
      projects,
      deletingProjects,
      deletedProjects,
      users,
      seen,
      suspensions,
      deletedUsers,
      endedUsers,
      sessions,
      sessionUses,
    ],
    factors,
    factorNotices,
    ...[mailings, resetRequests, sentMails],
    ...[keys, hashKeys, revokedKeys, apiKeys, keyUses, blocks, hashKinds, replyCollection],
    ...[attempts, erasedExternals, audits],
  ],
};
