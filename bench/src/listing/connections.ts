import { randomUUID } from 'node:crypto';
import { connectionsBackup } from '@kith/connections';
import {
  type Entry,
  entries,
  entryKey,
  type ListName,
  listHandler,
  listReceivedHandler,
  openStore,
  profiles,
  storedEntry,
  totals,
  totalsId,
} from '@kith/connections/testing';
import { listConnections, listReceivedRequests, type PublicUser } from '@kith/contracts';
import type { Relay } from '@kith/service';
import { counterRow, documentRow, movedDocuments } from '@kith/store/open';
import { serveAlone } from '@kith/testing';
import { profileOf } from '../whole/seed.ts';
import { interleave } from './interleave.ts';
import { firstMs, type Layout, type SeedRow, type Target } from './layout.ts';

/** How many connections a user has if the user's list is not measured. */
const each = 10;

/**
 * Users whose lists of connections have the lengths `established`, and users whose lists of pending requests have the lengths
 * `pending`. There are also users whose lists are not measured, with ten connections each. The lists of these users have
 * `others` rows in total.
 */
export function connectionsLayout(of: { established: number[]; pending: number[]; others: number }): Layout {
  const projectId = randomUUID();
  const people = Array.from({ length: of.others / each }, () => randomUUID());
  const target = (size: number): Target => ({ size, projectId, userId: randomUUID(), params: {} });
  const established = of.established.map(target);
  const received = of.pending.map(target);

  function* rows(): Generator<SeedRow> {
    for (const [at, id] of people.entries()) {
      const user = profileOf(projectId, id, at) as unknown as PublicUser;
      yield documentRow(profiles, `${projectId}|${id}`, { user });
    }
    yield* interleave([
      ...established.map(({ userId, size }) => ({ size, rows: list(userId, 'established', size) })),
      ...received.map(({ userId, size }) => ({ size, rows: list(userId, 'received', size) })),
      { size: of.others, rows: theirs() },
    ]);
  }

  function* theirs(): Generator<SeedRow> {
    for (const userId of people) yield* list(userId, 'established', each);
  }

  function* list(ownerId: string, name: ListName, size: number): Generator<SeedRow> {
    yield counterRow(totals, totalsId(projectId, ownerId), { [name]: size });
    for (let age = size; age > 0; age--) {
      const at = new Date(firstMs - age * 1_000);
      const userId = people[(age * 7_919) % people.length] as string;
      const connectedAt = name === 'established' ? at : null;
      const common = { projectId, ownerId, list: name, message: null, requestedAt: at, connectedAt };
      const entry: Entry = { ...common, id: randomUUID(), userId };
      yield documentRow(entries, entryKey(entry), storedEntry(entry));
    }
  }

  return {
    move: movedDocuments(connectionsBackup),
    rows,
    kinds: [
      {
        name: 'connections',
        title: 'connections',
        spec: listConnections,
        hasNumbers: true,
        hasQuery: true,
        targets: established,
      },
      {
        name: 'pending',
        title: 'requests that wait',
        spec: listReceivedRequests,
        hasNumbers: true,
        hasQuery: false,
        targets: received,
      },
    ],
    async serve(config) {
      const store = await openStore(config);
      const relay = { kick: () => undefined } as unknown as Relay;
      const served = await serveAlone([listHandler, listReceivedHandler], (bus) => ({ store, bus, relay }), {
        checkOutput: false,
      });
      return endingWith(served, store);
    },
  };
}

/** Adds the store to the served operations: when they are disposed, the store is closed, too. */
export function endingWith<Served extends AsyncDisposable>(
  bus: Served,
  store: { close(): Promise<void> },
): { bus: Served } & AsyncDisposable {
  return {
    bus,
    async [Symbol.asyncDispose]() {
      await bus[Symbol.asyncDispose]();
      await store.close();
    },
  };
}
