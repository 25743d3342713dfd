// What services use to declare and store documents. This entry loads no driver. `@kith/store/open`, `/backup`, `/mongo` and
// `/sqlite` load drivers.
export { anonymousProfile } from './backup/anonymous-profile.ts';
export type { ServiceBackup } from './backup/service-backup.ts';
export { CarriedEvent } from './documents/carried-event.ts';
export { changedNothing } from './documents/changed-nothing.ts';
export {
  type AnyCollection,
  type Collection,
  type Counters,
  collection,
  counters,
  type DocumentSchema,
  type Index,
  type Kind,
} from './documents/collection.ts';
export type {
  Change as DocumentChange,
  Copy,
  Documents,
  IdRange,
  Range,
  Refusal,
  Replies,
  Search,
  Stored,
} from './documents/documents.ts';
export { afterChange, apart, HeldChanges, ifUnmade } from './documents/held-changes.ts';
export { keepReplyMs, type Reply, replyCollection } from './documents/reply-collection.ts';
export type { Anew, Resealed, Sealed } from './documents/reseal.ts';
export type { StoreConfig } from './documents/store-config.ts';
export { timeKey } from './documents/time-key.ts';
export {
  type Copies,
  type EventRange,
  type EventSearch,
  eventKey,
  type Outbox,
  type Past,
  type PublishedEvent,
  type StoredEvent,
} from './outbox/outbox.ts';
export type { Progress, ProgressNote, Span } from './outbox/progress.ts';
