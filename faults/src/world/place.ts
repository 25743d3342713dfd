import type { EventLog } from '../check/event-log.ts';

/** A running platform, in one of its forms. Rows cause faults in it. */
export interface Place extends AsyncDisposable {
  /** The platform's address for users. */
  url: string;
  operatorToken: string;
  log: EventLog;
  /** Waits, without helping, until every process reports that it is ready. Resolves with the time that this took, in ms. */
  allReady(timeoutMs: number): Promise<number>;
}
