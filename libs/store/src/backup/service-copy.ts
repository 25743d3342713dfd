import { clocksMs, StartError } from '@kith/base';
import { auditRecorded, type EventEnvelope } from '@kith/contracts';
import { type Db, type Filter, MongoClient } from 'mongodb';
import type { AnyCollection } from '../documents/collection.ts';
import type { Documents, Stored } from '../documents/documents.ts';
import { between, isThere, type MongoDocument, readOf, targetOf } from '../documents/mongo-collection.ts';
import { openMongoDocuments } from '../documents/mongo-documents.ts';
import { replyCollection } from '../documents/reply-collection.ts';
import { surely } from '../drivers/mongo-settings.ts';
import { readEventText } from '../outbox/event-text.ts';
import type { OutboxFields } from '../outbox/mongo-outbox.ts';
import type { DocumentsFile } from './documents-file.ts';
import type { Follows, ServiceBackup } from './service-backup.ts';

export interface CopyOptions {
  /** Whether every consumer had already received the event at this position of the log when the backup began. */
  hasArrived: (event: EventEnvelope, position: number) => boolean;
  /** The service's events that a consumer has given up. They count as unpublished. */
  givenUp: () => Promise<EventEnvelope[]>;
  /** Called from time to time, and at the end of a collection, with the number of documents that are copied. */
  progress?: (collection: string, count: number) => void;
  /** Number of targets that are read together. */
  atOnce?: number;
  /** The backup fails if the targets that it reads together keep changing for this long, in ms. */
  patienceMs?: number;
}

type AnyRead = Stored<unknown>;

const atOnce = 500;
/** Number of targets whose rows are read at the same time. */
const targetsAtOnce = 16;
/** Number of documents of a collection after which its progress is reported. */
const tellEvery = 50_000;
/** The maximum number of times that targets are read again after a unique key has moved from one target to another. */
const rounds = 20;
/** Matches any time. This filter is a range, because some servers use a partial index only for ranges. */
const ever = { $gt: new Date(0) };

/**
 * Copies a service's database on MongoDB to a file, while the service continues to run. In the copy, a target and its rows have
 * the same version. The states of different targets may be from different moments, but never from before the copy began
 * (docs/adr/0038).
 */
export class ServiceCopy implements AsyncDisposable {
  readonly #backup: ServiceBackup;
  readonly #file: DocumentsFile;
  readonly #options: CopyOptions;
  readonly #documents: Documents;
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #begunAt = Date.now();

  private constructor(
    backup: ServiceBackup,
    file: DocumentsFile,
    options: CopyOptions,
    source: { documents: Documents; client: MongoClient; database: string },
  ) {
    this.#backup = backup;
    this.#file = file;
    this.#options = options;
    this.#documents = source.documents;
    this.#client = source.client;
    this.#db = source.client.db(source.database);
  }

  /** Connects. Throws `StartError`. */
  static async open(
    backup: ServiceBackup,
    from: { url: string; database: string },
    file: DocumentsFile,
    options: CopyOptions,
  ): Promise<ServiceCopy> {
    const documents = await openMongoDocuments({ ...from, ...backup.declared });
    const client = new MongoClient(from.url, surely);
    return new ServiceCopy(backup, file, options, { documents, client, database: from.database });
  }

  /** Copies the collections that must be copied before any other collection of any service. */
  async copyEarly(): Promise<void> {
    for (const of of this.#early) await this.#copyAlone(of);
  }

  /**
   * The collections to copy first. Answers are copied before targets. So for each answer in the copy, the copy also has the
   * change that the answer reports (docs/adr/0046).
   */
  get #early(): readonly AnyCollection[] {
    const { declared, early = [] } = this.#backup;
    return [...early, ...declared.collections.filter((of) => of === replyCollection)];
  }

  /** Copies all other collections, the events and the epoch, and computes the counters. */
  async copy(): Promise<void> {
    const { declared, follows = [], insteadOf = [] } = this.#backup;
    const ofTargets = new Set(follows.map(({ rows }) => rows));
    const alone = declared.collections.filter(
      (of) => of.kind !== 'target' && !ofTargets.has(of) && !this.#early.includes(of),
    );
    for (const of of declared.collections) if (of.kind === 'target') await this.#copyTargets(of);
    // These collections are copied after the targets, because a row that replaces a target appears only after the target has
    // gone.
    for (const of of alone) await this.#copyAlone(of);
    for (const { rows, target } of insteadOf) this.#file.removeThose(rows, target);
    this.#file.sumUp(this.#backup);
    await this.#copyEvents();
    this.#leaveOutLater();
    const epoch = await this.#documents.outbox.fact('epoch');
    if (epoch) this.#file.noteFact('epoch', epoch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#documents.close();
    await this.#client.close();
  }

  /** Copies a whole collection, independently of any target. */
  async #copyAlone(of: AnyCollection): Promise<void> {
    const tell = this.#teller(of);
    for await (const some of this.#walk(of, { above: '', below: '~' })) {
      this.#putRows(of, some);
      tell(some.length);
    }
    tell();
  }

  /**
   * Makes a function that reports a collection's progress. Call the function with the number of further documents, or without a
   * number at the end.
   */
  #teller({ name }: AnyCollection): (more?: number) => void {
    let [count, told] = [0, 0];
    return (more) => {
      count += more ?? 0;
      if (more !== undefined && count < told + tellEvery) return;
      told = count;
      this.#options.progress?.(name, count);
    };
  }

  async #copyTargets(of: AnyCollection): Promise<void> {
    const clashing = new Set<string>();
    const limit = this.#options.atOnce ?? atOnce;
    const tell = this.#teller(of);
    for (let above = ''; ; ) {
      const some = await this.#documents.range(of, { above, below: '~', limit });
      const last = some.at(-1);
      if (!last) break;
      await this.#copySome(
        of,
        some.map(({ id }) => id),
        clashing,
      );
      above = last.id;
      tell(some.length);
    }
    tell();
    for (let round = 1; clashing.size > 0; round++) {
      if (round > rounds)
        throw new StartError(`Unique keys of ${of.name} keep changing during the backup. Try again.`);
      const again = [...clashing];
      clashing.clear();
      for (const id of again) this.#bring(of, id, undefined);
      await this.#copySome(of, again, clashing);
    }
  }

  /**
   * Copies targets with their rows. Copies a target again if it has changed after it was read. If two targets have the same
   * unique key, adds both to `clashing`, so that they are copied again later.
   */
  async #copySome(of: AnyCollection, ids: readonly string[], clashing: Set<string>): Promise<void> {
    const { patienceMs = 60_000 } = this.#options;
    const until = performance.now() + patienceMs;
    const follows = (this.#backup.follows ?? []).filter(({ target }) => target === of);
    const copied = new Map<string, number | undefined>();
    for (let left = ids; left.length > 0; ) {
      if (performance.now() > until)
        throw new StartError(`${of.name} ${left[0]} keeps changing during the backup. Try again.`);
      const now = await this.#documents.get(of, left, { settled: true });
      left = left.filter((id) => !copied.has(id) || revOf(now.get(id)) !== copied.get(id));
      this.#file.together(() => {
        for (const id of left) {
          const holder = this.#bring(of, id, now.get(id));
          if (holder !== undefined) clashing.add(id).add(holder);
        }
      });
      const settled = left.flatMap((id) => (clashing.has(id) ? [] : (now.get(id) ?? [])));
      for (const one of follows) await this.#copyRows(one, settled, copied);
      for (const id of left) copied.set(id, revOf(now.get(id)));
    }
  }

  /**
   * Replaces the earlier copy of a target, or removes it if the target is gone. If another target in the copy already has a
   * unique key of this target, returns the id of that other target.
   */
  #bring(of: AnyCollection, id: string, read: AnyRead | undefined): string | undefined {
    const before = this.#file.find(of, id);
    for (const { rows, target, of: rowsOf } of this.#backup.follows ?? []) {
      if (target !== of || before === undefined) continue;
      const which = rowsOf({ id, doc: before });
      // A range of rows stays in the copy while its target exists. Later, only the rows that have changed are copied again.
      if ('above' in which) read === undefined && this.#file.removeRange(rows, which);
      else for (const row of which) this.#file.remove(rows, row);
    }
    if (read === undefined) return void this.#file.remove(of, id);
    const { changedAt } = targetOf(read);
    return this.#file.put(of, { id, doc: read.doc, changed: changedAt?.getTime() ?? null });
  }

  /**
   * Copies the rows of targets. If the rows are a range, copies only those that are newer than the earlier copy of their
   * target.
   */
  async #copyRows(
    { rows, of }: Follows,
    targets: readonly AnyRead[],
    copied: ReadonlyMap<string, number | undefined>,
  ): Promise<void> {
    const ids: string[] = [];
    const ranges: { range: { above: string; below: string }; since: number | undefined }[] = [];
    for (const target of targets) {
      const which = of(target);
      if ('above' in which) ranges.push({ range: which, since: copied.get(target.id) });
      else ids.push(...which);
    }
    const found = await this.#documents.get(rows, ids);
    this.#file.together(() => {
      for (const { id, doc } of found.values()) this.#file.put(rows, { id, doc });
    });
    for (let at = 0; at < ranges.length; at += targetsAtOnce) {
      await Promise.all(
        ranges.slice(at, at + targetsAtOnce).map(async ({ range, since }) => {
          for await (const some of this.#walk(rows, range, since)) this.#putRows(rows, some);
        }),
      );
    }
  }

  #putRows(of: AnyCollection, some: readonly MongoDocument[]): void {
    this.#file.together(() => {
      for (const one of some) {
        if (one.shape === undefined) this.#file.remove(of, one._id);
        else {
          const { epoch, newest } = one;
          this.#file.put(of, {
            ...readOf(of, one),
            ...(epoch !== undefined && { epoch, newest: newest ?? 0 }),
          });
        }
      }
    });
  }

  /**
   * Reads a range of documents in the order of their ids, in batches. With `since`, reads only documents with a later version,
   * including rows that were removed.
   */
  async *#walk(of: AnyCollection, { above, below }: { above: string; below: string }, since?: number) {
    const stored = this.#db.collection<MongoDocument>(of.name);
    const which = since === undefined ? isThere : { rev: { $gt: since } };
    for (let last = above; ; ) {
      const filter = { _id: between({ above: last, below }), ...which } as Filter<MongoDocument>;
      const some = await stored
        .find(filter, { sort: { _id: 1 }, limit: atOnce, batchSize: atOnce })
        .toArray();
      const end = some.at(-1);
      if (!end) return;
      yield some;
      last = end._id;
      if (some.length < atOnce) return;
    }
  }

  /**
   * Copies events. An event counts as unpublished if it was not published, or if perhaps not all consumers have received it.
   */
  async #copyEvents(): Promise<void> {
    // Looks at the targets first. If an event is moved from its target to `events` meanwhile, the search in `events` below
    // finds it there.
    for (const { name, kind, silent } of this.#backup.declared.collections) {
      if (kind !== 'target' || silent) continue;
      const filled = this.#db.collection<OutboxFields & { _id: string }>(name).find({ outboxAt: ever });
      for await (const { outbox = [], outboxAt } of filled) {
        for (const { key, event } of outbox) {
          this.#file.putEvent({ key, event, at: Number(outboxAt), isPublished: false });
        }
      }
    }
    const stored = this.#db.collection<StoredEvent>('events');
    for (let last = ''; ; ) {
      const some = await stored.find({ _id: { $gt: last } }, { sort: { _id: 1 }, limit: atOnce }).toArray();
      const end = some.at(-1);
      if (!end) break;
      this.#file.together(() => {
        for (const { _id: key, event, at, unpublished, last: position } of some) {
          const isPublished =
            !unpublished &&
            // If an event has no position, it was published long ago, when positions were not stored yet. So every consumer has
            // received it.
            (position === undefined || this.#options.hasArrived(readEventText(event).event, position));
          this.#file.putEvent({ key, event, at: at.getTime(), isPublished });
        }
      });
      last = end._id;
    }
    this.#endTargets();
    // A consumer may have given up an event so long ago that `events` no longer has it. So the events that consumers have given
    // up are copied too. They are read last. If an erasure has removed an event from `events` meanwhile, the erasure has also
    // removed the given-up event by now. So the backup contains neither.
    const givenUp = await this.#options.givenUp();
    this.#file.together(() => {
      for (const event of givenUp) this.#file.unpublish(event);
    });
  }

  /**
   * If a target was ended after it was copied, stores it in the copy as ended (`ServiceBackup.ended`). The event of an end does
   * not count if a consumer has given up this event. A restore after the event may have brought its target back.
   */
  #endTargets(): void {
    const { ended } = this.#backup;
    if (!ended) return;
    for (const some of this.#file.events()) {
      const events = some.map((one) => readEventText(one.event).event).filter((one) => this.#isNew(one));
      this.#file.together(() => {
        for (const event of events) {
          const after = ended(event, this.#file);
          if (after) this.#file.put(after.in, after);
        }
      });
    }
  }

  /**
   * Whether an event may have occurred since the copy began. The clocks of replicas may differ, so events from shortly before
   * the copy count too.
   */
  #isNew({ occurredAt }: EventEnvelope): boolean {
    return Date.parse(occurredAt) > this.#begunAt - clocksMs;
  }

  /** Leaves out events that occurred after their target was copied. */
  #leaveOutLater(): void {
    // The aggregates whose target is not in the copy, each with the keys of its events. Targets are copied in the order of
    // their ids. So a target is not copied if it is created after the copy has passed its id. The events of such a target are
    // left out if the target has not ended.
    const ended = new Map<string, { keys: string[]; isNew: boolean; isOver: boolean }>();
    for (const some of this.#file.events()) {
      const later: string[] = [];
      for (const { key, event: text } of some) {
        const { event } = readEventText(text);
        // An event of the audit log is stored with the change of a target, but is not an event of this target.
        if (event.type === auditRecorded.type) continue;
        const { seq, isLast = false } = this.#backup.standing(event, this.#file);
        if (seq !== undefined) {
          if (event.aggregate.seq > seq) later.push(key);
          continue;
        }
        const aggregate = `${event.projectId}|${event.aggregate.type}|${event.aggregate.id}`;
        const known = ended.get(aggregate) ?? { keys: [], isNew: false, isOver: false };
        known.keys.push(key);
        known.isNew ||= event.aggregate.seq === 1 && this.#isNew(event);
        known.isOver ||= isLast;
        ended.set(aggregate, known);
      }
      this.#file.together(() => this.#file.removeEvents(later));
    }
    const made = [...ended.values()].filter(({ isNew, isOver }) => isNew && !isOver);
    this.#file.together(() => this.#file.removeEvents(made.flatMap(({ keys }) => keys)));
  }
}

interface StoredEvent {
  _id: string;
  event: string;
  at: Date;
  unpublished?: true;
  last?: number;
}

function revOf(read: AnyRead | undefined): number | undefined {
  return read && targetOf(read).rev;
}
