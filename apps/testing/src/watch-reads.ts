import { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { type Document, MongoClient } from 'mongodb';
import { layLine } from './line.ts';
import { mongoMessages } from './mongo-messages.ts';
import { type Plan, planOfCommand, planOfSelect } from './query-plan.ts';
import { waitFor } from './wait-for.ts';

/** A query that a store has sent to its database. */
export interface Read {
  /** The collection or table that the query reads. */
  table: string;
  /** The query itself: a command with its collection, or SQL. */
  asked: string;
  /** How the database runs the query. */
  plan(): Promise<Plan>;
}

/** A store whose queries are watched if it is opened with `config`. */
export interface WatchedStore extends AsyncDisposable {
  config: StoreConfig;
  /**
   * Does `work`, and resolves with the queries that the work has made, grouped by round trip. A query that is sent after the
   * answer to another query is in a later round trip. SQLite has no round trips, so all its queries are in one group.
   */
  tripsOf(work: () => Promise<unknown>): Promise<Read[][]>;
}

/**
 * Watches the queries of a store. For MongoDB, it listens to the connections. For SQLite, it watches the queries in this process.
 */
export async function watchReads(config: StoreConfig): Promise<WatchedStore> {
  return config.kind === 'mongo' ? watchMongo(config) : watchSqlite(config);
}

/**
 * How many connections the driver opens in advance. Opening a connection takes a round trip, which must not be counted with the
 * store's round trips.
 */
const atHand = 12;
/**
 * How long each answer takes, in ms. On a busy machine, the commands of one round trip may arrive one after the other. Each
 * answer is delayed by this time, so that all these commands arrive before the round trip ends.
 */
const latencyMs = 20;
/** Commands that a driver sends by itself. */
const housekeeping = /^(hello|ismaster|ping|endsessions|sasl.*|killcursors)$/i;

async function watchMongo(config: StoreConfig & { kind: 'mongo' }): Promise<WatchedStore> {
  await using undo = new AsyncDisposableStack();
  const client = undo.use(new MongoClient(config.url));
  const db = client.db(config.database);
  let trips: Document[][] = [];
  /** How many round trips have been answered. */
  let answered = 0;
  /** How many connections have received the server's greeting. */
  let ready = 0;
  const tap = () => {
    let isReady = false;
    const open = new Map<number, number>();
    const ofClient = mongoMessages(({ requestId, body }) => {
      if (housekeeping.test(Object.keys(body)[0] ?? '')) return;
      open.set(requestId, answered);
      trips[answered] ??= [];
      trips[answered]?.push(body);
    });
    const ofServer = mongoMessages(({ responseTo }) => {
      answered = Math.max(answered, (open.get(responseTo) ?? -1) + 1);
      open.delete(responseTo);
    });
    return (from: 'client' | 'server', chunk: Buffer) => {
      if (from === 'client') return ofClient(chunk);
      if (!isReady) ready++;
      isReady = true;
      ofServer(chunk);
    };
  };
  const url = new URL(config.url);
  url.port ||= '27017';
  const line = undo.use(await layLine(url, tap, latencyMs));
  url.host = line.address;
  url.searchParams.set('directConnection', 'true');
  url.searchParams.set('minPoolSize', String(atHand));
  const ends = undo.move();
  return {
    config: { ...config, url: url.href },
    async tripsOf(work) {
      await waitFor(() => ready >= atHand, { what: 'connections' });
      trips = [];
      answered = 0;
      await work();
      return trips.map((commands) =>
        commands.map((command) => ({
          table: String(Object.values(command)[0]),
          asked: Object.entries(command)[0]?.join(' ') ?? '',
          plan: () => planOfCommand(db, command),
        })),
      );
    },
    [Symbol.asyncDispose]: () => ends.disposeAsync(),
  };
}

function watchSqlite(config: StoreConfig & { kind: 'sqlite' }): WatchedStore {
  return {
    config,
    async tripsOf(work) {
      const asked: string[] = [];
      const { all, get } = StatementSync.prototype;
      const listening = <Method extends (...values: never[]) => unknown>(original: Method) =>
        function (this: StatementSync, ...values: Parameters<Method>) {
          const rows = original.apply(this, values);
          // The SQL text with the values filled in.
          asked.push(this.expandedSQL);
          return rows;
        };
      Object.assign(StatementSync.prototype, { all: listening(all), get: listening(get) });
      try {
        await work();
      } finally {
        Object.assign(StatementSync.prototype, { all, get });
      }
      const reads = asked.map((sql) => ({
        table: /\bFROM "?(\w+)/.exec(sql)?.[1] ?? '',
        asked: sql,
        async plan() {
          using db = new DatabaseSync(config.file, { readOnly: true, timeout: 5_000 });
          return planOfSelect(db, sql);
        },
      }));
      return [reads];
    },
    async [Symbol.asyncDispose]() {},
  };
}
