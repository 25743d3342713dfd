/** Positions on the bus between which all copies of an event lie, both included. */
export interface Span {
  first: number;
  last: number;
}

/** How far a durable has got: what it was to apply of a log up to a position, it has. */
export interface ProgressNote {
  /** `EventLogState.created` */
  log: string;
  position: number;
}

/**
 * Notes of a consumer's own database. In the embedded form the log and the databases are files that can lose their last
 * changes each by itself: what a database says it has applied counts, not what the log says (docs/adr/0030).
 */
export interface Progress {
  read(durable: string): ProgressNote | undefined;
  note(durable: string, note: ProgressNote): void;
}
