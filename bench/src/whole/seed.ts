import { type Db, MongoClient } from 'mongodb';
import type { Person } from '../population.ts';
import { seeded, seededUuid } from '../random.ts';

const lastMs = 9_999_999_999_999;
const firstMs = Date.UTC(2026, 0, 1);
const chunk = 2_000;

/**
 * Stores connections as the service does (`services/connections/src/listing.ts`, docs/adr/0006): a row in each list, the
 * list's total, and the profiles the page is joined with. `tests/bench.test.ts` has the service's
 * store read it.
 */
export async function seedConnections(
  url: string,
  database: string,
  options: { people: readonly Person[]; each: number },
): Promise<void> {
  const client = new MongoClient(url);
  try {
    const db = client.db(database);
    await seedProfiles(db, options.people);
    await seedLists(db, options.people, options.each);
  } finally {
    await client.close();
  }
}

async function seedProfiles(db: Db, people: readonly Person[]): Promise<void> {
  const profiles = people.map(({ projectId, userId }, at) => ({
    _id: `${projectId}|${userId}`,
    seq: 1,
    user: JSON.stringify(profileOf(projectId, userId, at)),
    usernameKey: `user${at}`,
    nameKey: `person number ${at}`,
  }));
  await insert(db, 'profiles', profiles);
}

async function seedLists(db: Db, people: readonly Person[], each: number): Promise<void> {
  const random = seeded(13);
  const byProject = Map.groupBy(people, ({ projectId }) => projectId);
  const heads = people.map(({ projectId, userId }) => ({ _id: `${projectId}|${userId}`, established: each }));
  await insert(db, 'heads', heads);
  let rows: object[] = [];
  for (const { projectId, userId: ownerId } of people) {
    const others = (byProject.get(projectId) ?? []).filter(({ userId }) => userId !== ownerId);
    for (let at = 0; at < each; at++) {
      const id = seededUuid(random);
      const connectedAt = new Date(firstMs + at * 60_000);
      const place = `${String(lastMs - connectedAt.getTime()).padStart(13, '0')}|${id}`;
      rows.push({
        _id: `${projectId}|${ownerId}|e|${place}`,
        rev: 1,
        projectId,
        ownerId,
        list: 'established',
        id,
        userId: others[at % others.length]?.userId,
        message: null,
        requestedAt: connectedAt,
        connectedAt,
      });
    }
    if (rows.length >= chunk) rows = await insertSome(db, 'edges', rows);
  }
  await insertSome(db, 'edges', rows);
}

/** The public profile of the user at a place among the benchmark's. */
export function profileOf(projectId: string, id: string, at: number) {
  return {
    id,
    projectId,
    foreignId: null,
    role: 'user',
    name: `Person number ${at}`,
    username: `user${at}`,
    avatar: null,
    bio: 'Likes long walks, short books and old maps.',
    location: 'Hamburg',
    birthdate: null,
    reputation: at,
    metadata: {},
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
}

async function insert(db: Db, collection: string, documents: readonly object[]): Promise<void> {
  for (let at = 0; at < documents.length; at += chunk) {
    await insertSome(db, collection, documents.slice(at, at + chunk));
  }
}

async function insertSome(db: Db, collection: string, documents: readonly object[]): Promise<object[]> {
  if (documents.length > 0) await db.collection(collection).insertMany([...documents], { ordered: false });
  return [];
}
