import { connectionsBackup } from '@kith/connections';
import {
  type Entry,
  entries,
  entryKey,
  profiles,
  storedEntry,
  totals,
  totalsId,
} from '@kith/connections/testing';
import type { PublicUser } from '@kith/contracts';
import { counterRow, documentRow, movedDocuments } from '@kith/store/open';
import { fillStore, type StoredRow } from '@kith/testing';
import type { Person } from '../population.ts';
import { seeded, seededUuid } from '../random.ts';

const firstMs = Date.UTC(2026, 0, 1);

/**
 * Stores connections as the service does (docs/adr/0006): a row in each user's list, the list's total, and the profiles that the
 * page shows. `bench/tests/bench.test.ts` reads this data with the service's own store.
 */
export async function seedConnections(
  url: string,
  database: string,
  options: { people: readonly Person[]; each: number },
): Promise<void> {
  await fillStore({ kind: 'mongo', url, database }, movedDocuments(connectionsBackup), rowsOf(options));
}

function* rowsOf({ people, each }: { people: readonly Person[]; each: number }): Generator<StoredRow> {
  for (const [at, { projectId, userId }] of people.entries()) {
    const user = profileOf(projectId, userId, at) as unknown as PublicUser;
    yield documentRow(profiles, `${projectId}|${userId}`, { user });
  }
  const random = seeded(13);
  const byProject = Map.groupBy(people, ({ projectId }) => projectId);
  for (const { projectId, userId: ownerId } of people) {
    yield counterRow(totals, totalsId(projectId, ownerId), { established: each });
    const others = (byProject.get(projectId) ?? []).filter(({ userId }) => userId !== ownerId);
    for (let at = 0; at < each; at++) {
      const connectedAt = new Date(firstMs + at * 60_000);
      const entry: Entry = {
        ...{ projectId, ownerId, list: 'established', id: seededUuid(random), message: null },
        ...{ userId: others[at % others.length]?.userId ?? '', requestedAt: connectedAt, connectedAt },
      };
      yield documentRow(entries, entryKey(entry), storedEntry(entry));
    }
  }
}

/** The public profile of the benchmark's user number `at`. */
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
