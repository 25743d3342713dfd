import type { EventEnvelope } from '@kith/contracts';
import type { BlobEntry } from '../blobs/blobs.ts';
import type { AnyCollection, Collection, Counters, Declared } from '../documents/collection.ts';
import type { Sealed } from '../documents/reseal.ts';
import type { AnyStored } from './any-stored.ts';
import type { MadeUp } from './made-up.ts';

/**
 * Rows that are written by changes of a target. `of` returns the ids of a target's rows, or the range in which these ids lie.
 */
export interface Follows {
  rows: AnyCollection;
  target: AnyCollection;
  of(target: AnyStored): readonly string[] | { above: string; below: string };
}

/** A file that has a record, and its owner. */
export interface RecordedFile {
  fileId: string;
  projectId: string;
  userId: string;
}

/** A blob as a file's record describes it. `size` is the number of bytes that were stored. */
export interface RecordedBlob extends BlobEntry {
  /** The id of the row that records the blob. */
  rowId: string;
  /** The file to which the blob belongs. All blobs of a file have the same object. */
  file: RecordedFile;
}

/** The part of a service's data that is already in the copy. */
export interface Copied {
  find<D>(of: Collection<D>, id: string): D | undefined;
  findBy<D>(of: Collection<D>, index: string, key: string): { id: string; doc: D } | undefined;
  range<D>(of: Collection<D>, range: { above: string; below: string }): { id: string; doc: D }[];
}

/** The state of an event's target. */
export interface Standing {
  /** `seq` of the target's last event; undefined if the copy does not have the target. */
  seq: number | undefined;
  /** Whether the event reports the end of its target. If it does, it is the last event of the target. */
  isLast?: boolean;
}

/** What a backup has to know about a service in addition to the service's declarations (docs/adr/0038). */
export interface ServiceBackup {
  service: string;
  declared: Declared;
  follows?: readonly Follows[];
  /** Rows that replace a target that is gone. There are no such rows while the target exists. */
  insteadOf?: readonly { rows: AnyCollection; target: AnyCollection }[];
  /**
   * For each row: the counters that count it, and the numbers that it adds to them. A backup does not copy counters. It
   * computes them again from the rows.
   */
  counted?: readonly {
    rows: AnyCollection;
    counters: Counters;
    add(row: AnyStored): { id: string; add: Readonly<Record<string, number>> };
  }[];
  /**
   * Collections that hold copies of another service's data. A collection is named here only if the other service is read before
   * this service. The backup copies these collections before it copies anything else of the two services.
   */
  early?: readonly AnyCollection[];
  /** Rows whose bytes are in the store of files. `of` returns a row's blobs. */
  bytes?: { rows: AnyCollection; of(row: AnyStored): RecordedBlob[] };
  /** The documents with texts that are sealed under KITH_SECRET, and how to reseal these texts. */
  sealed?: readonly Sealed[];
  standing(event: EventEnvelope, copied: Copied): Standing;
  /**
   * Present if the service first ends a target, and later erases everything below this target (other targets, and rows). In
   * this case, the copy may hold the target in its state before the end, but only a part of what was below the target. If the
   * event ends a target that the copy has, returns the target in its state after the end.
   */
  ended?(event: EventEnvelope, copied: Copied): { in: AnyCollection; id: string; doc: unknown } | undefined;
  /**
   * For each collection, by its name, a function. It gets a stored document, and returns the document that replaces it in an
   * anonymous copy, or `null` to leave the document out.
   */
  anonymous: Readonly<Record<string, (stored: AnyStored, made: MadeUp) => AnyStored | null>>;
}
