import { redactUrl, StartError, tracing, within } from '@kith/base';
import {
  type Db,
  type IndexDescription,
  MongoBulkWriteError,
  MongoClient,
  type MongoClientOptions,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { surely } from './mongo-settings.ts';
import { traceCommands } from './mongo-spans.ts';
import { olderLayout } from './older-layout.ts';
import './mongo-driver.ts';

/** A service's collections and indexes. They are declared in one place, and those that are missing are created at the start. */
export interface MongoSchema {
  /**
   * The version of the schema. It is raised whenever the shape of stored documents changes. A service refuses to run on a
   * database with a newer version.
   */
  version: number;
  /** The oldest version that can be used, 1 by default. Older versions are refused. */
  oldest?: number;
  collections: Readonly<Record<string, readonly IndexDescription[]>>;
  /** Called before anything is created. Throws `StartError` if the service must not run on this database. */
  admit?(db: Db): Promise<void>;
}

export interface MongoOptions {
  url: string;
  database: string;
  schema: MongoSchema;
  /** How long to try to make the first connection, in ms. */
  connectTimeoutMs?: number;
  times?: Partial<MongoTimes>;
}

export interface MongoConnection {
  db: Db;
  /** Rejects if the server does not answer in two seconds. Reconnects if the server has not answered for `renewAfterMs`. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Times of a connection, in ms. */
export interface MongoTimes {
  /** How long a command may wait for an answer. Without this limit, a relay or a sweep could wait for ever. */
  answerMs: number;
  /** If no check was answered for this long, the connections are renewed. */
  renewAfterMs: number;
}

const defaultTimes: MongoTimes = { answerMs: 30_000, renewAfterMs: 30_000 };
const checkMs = 2_000;

/**
 * Connects to the database, and brings its collections and indexes up to date. Writes wait for a majority and for the journal.
 * Reads go to the primary. Throws `StartError`.
 */
export async function openMongo(options: MongoOptions): Promise<MongoConnection> {
  const { url, database, schema, connectTimeoutMs = 10_000 } = options;
  const { answerMs, renewAfterMs } = { ...defaultTimes, ...options.times };
  const traces = tracing();
  const settings: MongoClientOptions = {
    ...surely,
    // These waits are shorter than the deadline of a request's caller (REQUEST_TIMEOUT_MS, 5 s). So if the database is
    // unreachable, the caller gets the feature's own error before the deadline.
    ...withoutThoseOf(url, {
      serverSelectionTimeoutMS: 3_000,
      connectTimeoutMS: 3_000,
      waitQueueTimeoutMS: 4_000,
    }),
    appName: `kith ${database}`,
    monitorCommands: traces !== undefined,
  };
  // Does not set `timeoutMS`, because this option has no effect in this version of the driver.
  const client = new MongoClient(url, {
    ...settings,
    ...withoutThoseOf(url, { socketTimeoutMS: answerMs }),
  });
  if (traces) traceCommands(client, traces);
  try {
    // The first client has no `socketTimeoutMS`, because creating an index of a large collection may take very long.
    await using first = new MongoClient(url, settings);
    await firstConnection(first, connectTimeoutMs);
    await ensureSchema(first.db(database), schema);
    await client.connect();
    return { db: client.db(database), ...watched(client, renewAfterMs) };
  } catch (error) {
    await client.close();
    if (error instanceof StartError) throw error;
    throw new StartError(`MongoDB at ${redactUrl(url)} cannot be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/**
 * Leaves out settings that the URL sets too, in upper or lower case. Otherwise, the driver would silently ignore what the URL
 * sets.
 */
function withoutThoseOf(url: string, settings: MongoClientOptions): MongoClientOptions {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const set = new Set([...query.keys()].map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !set.has(name.toLowerCase())));
}

/** Watches whether a client's server answers. */
function watched(client: MongoClient, renewAfterMs: number): Pick<MongoConnection, 'check' | 'close'> {
  let answeredAt = performance.now();
  let isRenewing = false;
  let isClosed = false;
  // Objects that use the client stay valid. After a reconnect, the client is still the same object, with a new pool and a new
  // monitor.
  const renew = async () => {
    answeredAt = performance.now();
    isRenewing = true;
    try {
      await client.close();
      if (!isClosed) await client.connect();
    } catch {
      // Nothing is reported here, because the next check fails as well.
    } finally {
      isRenewing = false;
    }
  };
  return {
    async check() {
      try {
        if (!(await within(client.db('admin').command({ ping: 1 }), checkMs))) {
          throw new Error(`The database has not answered in ${checkMs} ms.`);
        }
        answeredAt = performance.now();
      } catch (error) {
        if (!isRenewing && performance.now() - answeredAt >= renewAfterMs) void renew();
        throw error;
      }
    },
    close() {
      isClosed = true;
      return client.close();
    },
  };
}

async function firstConnection(client: MongoClient, timeoutMs: number): Promise<void> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      await client.connect();
      return;
    } catch (error) {
      // No pause is needed between attempts, because an attempt to reach an unreachable server already takes 3 s. Other
      // failures, such as refused credentials, do not go away with time, so they are thrown.
      if (!(error instanceof MongoServerSelectionError) || Date.now() > until) throw error;
    }
  }
}

async function ensureSchema(db: Db, schema: MongoSchema): Promise<void> {
  const versions = db.collection<{ _id: string; version: number }>('schema');
  const stored = await versions.findOne({ _id: 'schema' });
  if (stored && stored.version > schema.version) {
    throw new StartError(
      `The database ${db.databaseName} was written by a newer version of Kith (schema ${stored.version}). Start the newer version, or restore a backup of this version.`,
    );
  }
  if (stored && stored.version < (schema.oldest ?? 1)) throw olderLayout(db.databaseName, stored.version);
  await schema.admit?.(db);
  for (const [name, indexes] of Object.entries(schema.collections)) {
    if (indexes.length > 0) await db.collection(name).createIndexes([...indexes]);
  }
  if (stored?.version === schema.version) return;
  try {
    if (stored) await versions.updateOne({ _id: 'schema' }, { $set: { version: schema.version } });
    else await versions.insertOne({ _id: 'schema', version: schema.version });
  } catch (error) {
    if (!isMongoDuplicate(error)) throw error;
  }
}

/**
 * Whether a write of one document failed because of a unique key. Always `false` for the error of a bulk, because the code of
 * this error is only the code of its first failure. For a bulk, use `failedWrites` and similar functions, which look at each
 * failure.
 */
export function isMongoDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && !(error instanceof MongoBulkWriteError) && error.code === 11000;
}

/**
 * Whether the database aborted a write to end a deadlock. Then nothing of the write is stored. FerretDB's unique indexes,
 * except the index of `_id`, are exclusion constraints of PostgreSQL. In such an index, racing writes of one key wait for each
 * other. After one second, one of the writes fails with SQLSTATE 40P01 (deadlock). The error's code is 40P01, encoded as an
 * integer in PostgreSQL's way.
 */
export function isMongoDeadlock(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === mongoDeadlock;
}

/** The code that `isMongoDeadlock` looks for. */
export const mongoDeadlock = 16908292;
