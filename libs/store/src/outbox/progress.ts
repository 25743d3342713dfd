/** The positions on the bus between which all copies of an event lie, both included. */
export interface Span {
  first: number;
  last: number;
}

/** The progress of a durable consumer. The consumer has applied all its events of a log up to a position. */
export interface ProgressNote {
  /** `EventLogState.created` */
  log: string;
  position: number;
}

/**
 * The notes of progress in a consumer's own database. In the embedded form, the log and each database are separate files. Each
 * file can lose its last changes independently of the others. So the consumer's database, not the log, decides what has been
 * applied (docs/adr/0030).
 */
export interface Progress {
  read(durable: string): ProgressNote | undefined;
  note(durable: string, note: ProgressNote): void;
}
