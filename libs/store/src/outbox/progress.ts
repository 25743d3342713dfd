/** The positions on the bus between which all copies of an event lie, both included. */
export interface Span {
  first: number;
  last: number;
}

/** How far a durable has got: it has applied all that it had to apply of a log, up to a position. */
export interface ProgressNote {
  /** `EventLogState.created` */
  log: string;
  position: number;
}

/**
 * Notes of a consumer's own database. In the embedded form the log and each database are separate files, and each can
 * lose its last changes independently. So what counts is what a database says it has applied, not what the log says
 * (docs/adr/0030).
 */
export interface Progress {
  read(durable: string): ProgressNote | undefined;
  note(durable: string, note: ProgressNote): void;
}
