import type { EventLog } from '../check/event-log.ts';

/** A running platform, in one of its forms. Rows cause faults in it. */
export interface Place extends AsyncDisposable {
  /** The platform's address for users. */
  url: string;
  operatorToken: string;
  log: EventLog;
  /** Waits until every process reports that it is ready, but starts no process. Resolves to the time that this took, in ms. */
  allReady(timeoutMs: number): Promise<number>;
}
