import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreConfig } from '@kith/store';
import { fillStore } from '@kith/testing';
import { collectionsLayout } from './collections.ts';
import { connectionsLayout } from './connections.ts';
import type { Layout } from './layout.ts';
import { type ListFigures, measureKind } from './measure.ts';
import { notificationsLayout } from './notifications.ts';

export type EngineName = 'sqlite' | 'mongodb';

/** The measured figures of one kind of list on one engine. */
export interface KindFigures {
  engine: EngineName;
  kind: string;
  title: string;
  lists: ListFigures[];
}

export interface ListingOptions {
  mongodbUrl: string;
  folder: string;
  /** The length of the longest list. For some kinds of lists, the longest list has 100,000 rows. */
  longest: number;
  /** How many rows of other users there are beside the measured lists of connections. */
  others: number;
  rounds: number;
  progress: (line: string) => void;
}

const shortest = 100;

/** Measures every kind of list on both engines, one service's data at a time. */
export async function measureListing(options: ListingOptions): Promise<KindFigures[]> {
  const found: KindFigures[] = [];
  for (const engine of ['sqlite', 'mongodb'] as const) {
    // The data is made again for each engine. It differs only in its ids.
    for (const [service, make] of Object.entries(layoutsOf(options))) {
      found.push(...(await measureLayout(options, { engine, service, layout: make() })));
    }
  }
  return found;
}

/** For each service, a function that makes the service's data. It is called only when the service is measured. */
export function layoutsOf({ longest, others }: Pick<ListingOptions, 'longest' | 'others'>) {
  const long = powers(longest);
  const short = powers(Math.min(longest, 100_000));
  return {
    connections: () => connectionsLayout({ established: long, pending: short, others }),
    collections: () => collectionsLayout({ children: short, entities: long }),
    notifications: () => notificationsLayout(long),
  };
}

/** Stores a service's data on an engine and measures its lists. */
export async function measureLayout(
  { mongodbUrl, folder, rounds, progress }: ListingOptions,
  of: { engine: EngineName; service: string; layout: Layout },
): Promise<KindFigures[]> {
  const { engine, service, layout } = of;
  const place = mkdtempSync(join(folder, 'listing-'));
  const database = `benchlisting${process.pid}_${service}`;
  const config: StoreConfig =
    engine === 'sqlite'
      ? { kind: 'sqlite', file: join(place, 'store.sqlite') }
      : { kind: 'mongo', url: mongodbUrl, database };
  try {
    const started = performance.now();
    const rows = await fillStore(config, layout.move, layout.rows());
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    progress(`listing: ${rows} rows of ${service} stored on ${engine} in ${seconds} s`);
    await using served = await layout.serve(config);
    const found: KindFigures[] = [];
    for (const kind of layout.kinds) {
      const lists = await measureKind(served.bus, kind, rounds);
      const first = lists.map(({ pages }) => pages.first?.median.ms.toFixed(2)).join(', ');
      progress(`listing: ${kind.title} on ${engine}, page 1 in ms: ${first}`);
      found.push({ engine, kind: kind.name, title: kind.title, lists });
    }
    return found;
  } finally {
    rmSync(place, { recursive: true, force: true });
    if (config.kind === 'mongo') await dropDatabase(config);
  }
}

/** The powers of ten from 100 up to a length. */
function powers(longest: number): number[] {
  const sizes: number[] = [];
  for (let size = shortest; size <= longest; size *= 10) sizes.push(size);
  return sizes;
}

async function dropDatabase({ url, database }: { url: string; database: string }): Promise<void> {
  const { MongoClient } = await import('mongodb');
  await using client = new MongoClient(url);
  await client.db(database).dropDatabase();
}
