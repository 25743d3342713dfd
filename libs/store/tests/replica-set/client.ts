import {
  type Collection,
  type Db,
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoWriteConcernError,
} from 'mongodb';
import {
  copyOf,
  type Id,
  inOrder,
  matches,
  NotModelled,
  projected,
  type Stored,
  updated,
} from './documents.ts';
import { type Data, type Entry, type Member, type ReplicaSet, SteppedDown } from './members.ts';

type Fields = Record<string, unknown>;
export type Concern = 'majority' | 'local';

/** A command that was sent and has not arrived yet. It arrives when the schedule calls `go`. */
export interface Gated {
  client: Client;
  go(): void;
}

/** A command as a member executes it. `made` marks the command's entries in the log. */
interface Command<T> {
  isWrite: boolean;
  isRetried: boolean;
  /** Whether the command is a bulk write. If a bulk write fails, the failures are wrapped in a special error. */
  isBulk?: boolean;
  execute(member: Member, made: string): T | Error;
}

let commands = 0;

/**
 * Stands for a process's connections to a replica set. It has the part of the driver's `Db` that the code under test uses. A
 * member executes a command when the schedule lets the command arrive at this member. The member answers a write as soon as a
 * majority has the write. The client learns of a new primary from failures, or when the schedule says so. Like the driver, the
 * client repeats a failed read once, and a failed write of a single document once. From its log, a member knows what an earlier
 * attempt has written.
 */
export class Client {
  readonly #set: ReplicaSet;
  readonly #gates: Gated[] | undefined;
  readonly #concern: (collection: string) => Concern;
  readonly #open = new Set<(reason: Error) => void>();
  #sees: Member;
  #isDead = false;
  #isBuried = false;

  /** @param gates Where commands wait for the schedule. Without `gates`, commands are executed and replicated immediately. */
  constructor(set: ReplicaSet, gates?: Gated[], concern: (collection: string) => Concern = () => 'majority') {
    this.#set = set;
    this.#gates = gates;
    this.#concern = concern;
    this.#sees = set.leader;
  }

  readonly db = this.#strict({
    databaseName: 'model',
    collection: (name: string) => this.#collection(name),
  }) as unknown as Db;

  /** Learns which member was elected last. */
  discover(): void {
    this.#sees = this.#set.leader;
  }

  /** Breaks the client's connections. Commands under way fail, but may still be executed. */
  cut(): void {
    for (const reject of this.#open) reject(new MongoNetworkError('connection closed'));
    this.#open.clear();
    this.discover();
  }

  /** Ends the client's process. Commands under way arrive, but are never answered. */
  die(): void {
    this.#isDead = true;
  }

  /** Fails all calls that still wait in a dead process, so that the promises of this process settle. */
  bury(): void {
    this.#isBuried = true;
    this.#isDead = false;
    this.cut();
  }

  /** Calls `arrive` when the schedule lets the command arrive. By then, the sender may have died. */
  async send<T>(arrive: () => Promise<T>): Promise<T> {
    if (this.#isBuried) throw new MongoNetworkError('the process has died');
    const gates = this.#gates;
    if (!gates) return arrive();
    return this.#heard(
      new Promise<T>((resolve) => gates.push({ client: this, go: () => resolve(arrive()) })),
    );
  }

  #heard<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#open.add(reject);
      const hear = (tell: () => void) => {
        if (!this.#isDead && this.#open.delete(reject)) tell();
      };
      answer.then(
        (value) => hear(() => resolve(value)),
        (error) => hear(() => reject(error)),
      );
    });
  }

  async #run<T>(command: Command<T>): Promise<T> {
    const made = `${++commands}`;
    const attempts = command.isRetried ? 2 : 1;
    for (let attempt = 1; ; attempt++) {
      try {
        const member = this.#sees;
        return await this.send(() => this.#executed(command, member, made));
      } catch (error) {
        const isRefused = error instanceof MongoServerError && !retryable.has(Number(error.code));
        if (!(error instanceof MongoNetworkError) && (!(error instanceof MongoServerError) || isRefused))
          throw error;
        this.discover();
        if (attempt === attempts) throw command.isBulk ? bulkError(error, []) : error;
      }
    }
  }

  async #executed<T>({ execute, isWrite }: Command<T>, member: Member, made: string): Promise<T> {
    if (!member.isPrimary) throw new MongoServerError({ message: 'not primary', code: 10107 });
    const answer = execute(member, made);
    if (isWrite) {
      // A write waits until a majority has all entries of the log, even if the write changed nothing.
      const written = member.majority(member.log.length);
      if (!this.#gates) this.#set.replicateAll();
      try {
        await written;
      } catch (error) {
        if (!(error instanceof SteppedDown)) throw error;
        const writeConcernError = { code: 189, errmsg: 'primary stepped down' };
        throw new MongoWriteConcernError({ ok: 1, writeConcernError } as never);
      }
    }
    if (answer instanceof Error) throw answer;
    return answer;
  }

  #collection(name: string): Collection {
    const run = <T>(execute: Command<T>['execute'], how: Omit<Command<T>, 'execute'>) =>
      this.#run<T>({ execute, ...how });
    const one = { isWrite: true, isRetried: true };
    const many = { isWrite: true, isRetried: false };
    const reads = { isWrite: false, isRetried: true };
    const find = (filter: Fields = {}, options: Fields = {}) => {
      only(options, ['projection', 'limit', 'sort', 'batchSize']);
      return run((member) => {
        const data = this.#concern(name) === 'majority' ? member.committed : member.head;
        const found = inOrder(documentsOf(data, name, filter), (options.sort ?? {}) as Fields);
        const limit = Number(options.limit ?? 0) || found.length;
        return found.slice(0, limit).map((each) => projected(each, options.projection as Fields | undefined));
      }, reads);
    };
    const update = (filter: Fields, change: (document: Stored) => Stored, most: number, upsert = false) =>
      run(
        (member, made) => {
          const before = recorded(member, made);
          if (before.length > 0) return { matchedCount: before.length };
          const hits = documentsOf(member.head, name, filter).slice(0, most);
          const isNew = hits.length === 0 && upsert;
          const documents = isNew ? [{ _id: filter._id as Id }] : hits;
          this.#write(member, name, made, documents.map(change));
          return { matchedCount: hits.length };
        },
        most === 1 ? one : many,
      );
    const insert = (documents: readonly Stored[], isBulk: boolean, isOrdered = true) =>
      run(
        (member, made) => {
          const before = new Set(recorded(member, made).map(({ id }) => id));
          const failures: { index: number; code: number }[] = [];
          for (const [index, document] of documents.entries()) {
            if (before.has(document._id)) continue;
            if (isOrdered && failures.length > 0) break;
            if (member.head.get(name)?.has(document._id)) failures.push({ index, code: 11000 });
            else this.#write(member, name, made, [copyOf(document)]);
          }
          if (failures.length === 0) return { insertedCount: documents.length };
          const error = new MongoServerError({ message: 'E11000 duplicate key', code: 11000 });
          return isBulk ? bulkError(error, failures) : error;
        },
        { ...one, isBulk },
      );
    return this.#strict({
      collectionName: name,
      find: (filter?: Fields, options?: Fields) => this.#strict({ toArray: () => find(filter, options) }),
      findOne: async (filter: Fields, options: Fields = {}) =>
        (await find(filter, { ...options, limit: 1 }))[0] ?? null,
      countDocuments: async (filter: Fields) => (await find(filter)).length,
      insertOne: (document: Stored) => insert([document], false),
      insertMany: (documents: readonly Stored[], options: Fields = {}) => {
        only(options, ['ordered']);
        return insert(documents, true, options.ordered !== false);
      },
      updateOne: (filter: Fields, change: Fields, options: Fields = {}) => {
        only(options, ['upsert']);
        if (options.upsert) only(filter, ['_id']);
        return update(filter, (document) => updated(document, change), 1, options.upsert === true);
      },
      updateMany: (filter: Fields, change: Fields) =>
        update(filter, (document) => updated(document, change), Number.POSITIVE_INFINITY),
      replaceOne: (filter: Fields, next: Fields) =>
        update(filter, ({ _id }) => copyOf({ ...next, _id }) as Stored, 1),
      // Does nothing, because an index that is not unique changes only the speed.
      createIndexes: (indexes: readonly Fields[]) => {
        if (indexes.some(({ unique }) => unique)) throw new NotModelled('unique index');
      },
    }) as unknown as Collection;
  }

  #write(member: Member, collection: string, statement: string, documents: readonly Stored[]): void {
    const { term } = member;
    member.append(
      documents.map((document): Entry => ({ term, collection, id: document._id, document, statement })),
    );
  }

  #strict<T extends object>(has: T): T {
    return new Proxy(has, {
      get(target, name) {
        if (typeof name === 'symbol' || name in target || name === 'then') return Reflect.get(target, name);
        throw new NotModelled(`method ${name}`);
      },
    });
  }
}

/** Codes of failures that the command itself did not cause. */
const retryable = new Set([10107, 189]);

function documentsOf(data: Data, collection: string, filter: Fields): Stored[] {
  const documents = data.get(collection);
  if (!documents) return [];
  if (isId(filter._id)) {
    const document = documents.get(filter._id);
    return document && matches(document, filter) ? [document] : [];
  }
  return [...documents.values()].filter((document) => matches(document, filter));
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}

/** The entries that an earlier attempt of a command wrote, unless they were rolled back. */
function recorded(member: Member, made: string): Entry[] {
  return member.log.filter(({ statement }) => statement === made);
}

function only(options: Fields, known: readonly string[]): void {
  const other = Object.keys(options).find((name) => !known.includes(name));
  if (other !== undefined) throw new NotModelled(`option ${other}`);
}

function bulkError(error: Error, writeErrors: { index: number; code: number }[]): MongoBulkWriteError {
  const concern = error instanceof MongoWriteConcernError ? error : undefined;
  const result = { matchedCount: 0, getWriteConcernError: () => concern };
  const { message } = error;
  const { code } = error as MongoServerError;
  return new MongoBulkWriteError(
    { message, code: Number(code), writeErrors: writeErrors as never },
    result as never,
  );
}
