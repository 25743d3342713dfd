import {
  eventsIndexes,
  MongoOutbox,
  type MongoSchema,
  marksIndexes,
  openMongo,
  type StoreConfig,
} from '@kith/service';
import type { IdentityStore } from './index.ts';
import { accountIndexes, MongoAccounts } from './mongo-accounts.ts';
import { MongoBlocks } from './mongo-blocks.ts';
import { endedIndexes, MongoErasure } from './mongo-erasure.ts';
import { MongoImports } from './mongo-imports.ts';
import { mongoKeys } from './mongo-keys.ts';
import { MongoPeople } from './mongo-people.ts';
import { MongoProjects, projectIndexes } from './mongo-projects.ts';
import { MongoSessions, sessionIndexes } from './mongo-sessions.ts';
import { userIndexes } from './mongo-user-document.ts';
import { MongoUsers } from './mongo-users.ts';

const schema: MongoSchema = {
  version: 1,
  collections: {
    projects: projectIndexes,
    blocks: [],
    users: [...userIndexes, ...accountIndexes],
    sessions: sessionIndexes,
    keys: [],
    revokedKeys: [],
    hashKinds: [],
    endedUsers: endedIndexes,
    events: eventsIndexes,
    marks: marksIndexes,
  },
};

/** Opens the store on MongoDB. */
export async function openMongoStore(config: StoreConfig & { kind: 'mongo' }): Promise<IdentityStore> {
  const { db, check, close } = await openMongo({ url: config.url, database: config.database, schema });
  const outbox = new MongoOutbox(db, ['users', 'sessions']);
  return {
    projects: new MongoProjects(db),
    users: new MongoUsers(db, outbox),
    people: new MongoPeople(db),
    erasure: new MongoErasure(db, outbox),
    blocks: new MongoBlocks(db),
    accounts: new MongoAccounts(db, outbox),
    sessions: new MongoSessions(db),
    keys: mongoKeys(db),
    imports: new MongoImports(db),
    outbox,
    check,
    close,
  };
}
