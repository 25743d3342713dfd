import type { EventEnvelope } from '@kith/contracts';
import type { AnyCollection, Collection, Counters, Declared } from '../documents/collection.ts';
import type { Sealed } from '../documents/reseal.ts';
import type { AnyStored } from './any-stored.ts';
import type { MadeUp } from './made-up.ts';

/** Rows of a collection that follow from targets: the ids of those that follow from one, or the range they lie in. */
export interface Follows {
  rows: AnyCollection;
  target: AnyCollection;
  of(target: AnyStored): readonly string[] | { above: string; below: string };
}

/** What is copied of a service. */
export interface Copied {
  find<D>(of: Collection<D>, id: string): D | undefined;
  findBy<D>(of: Collection<D>, index: string, key: string): { id: string; doc: D } | undefined;
  range<D>(of: Collection<D>, range: { above: string; below: string }): { id: string; doc: D }[];
}

/** How far the target of an event has got. */
export interface Standing {
  /** `seq` of the last event it has told; absent where it is not there. */
  seq: number | undefined;
  /** Whether the event is the last one that its target tells. */
  isLast?: boolean;
}

/** What a backup has to know of a service beyond what it declares (docs/adr/0038). */
export interface ServiceBackup {
  service: string;
  declared: Declared;
  follows?: readonly Follows[];
  /** Rows that stand in the place of a target that is no more: there is none while the target is there. */
  insteadOf?: readonly { rows: AnyCollection; target: AnyCollection }[];
  /** What each row adds to counters. A backup does not read counters: it sums them up again from the rows. */
  counted?: readonly {
    rows: AnyCollection;
    counters: Counters;
    add(row: AnyStored): { id: string; add: Readonly<Record<string, number>> };
  }[];
  /** Copies of what a service owns that is read before this one. They are read before both. */
  early?: readonly AnyCollection[];
  /** What is sealed under KITH_SECRET, and how it is sealed anew. */
  sealed?: readonly Sealed[];
  standing(event: EventEnvelope, copied: Copied): Standing;
  /** By the name of each collection: what stands for a document in an anonymous copy; `null` is nothing. */
  anonymous: Readonly<Record<string, (stored: AnyStored, made: MadeUp) => AnyStored | null>>;
}
