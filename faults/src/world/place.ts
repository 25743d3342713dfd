import type { EventLog } from '../check/event-log.ts';

/** A platform that runs, in one of its forms, and faults can be done to. */
export interface Place extends AsyncDisposable {
  /** Where its users find it. */
  url: string;
  operatorToken: string;
  log: EventLog;
  /** Waits until all of it says that it is ready; gives how long that took, in ms. Nothing is done to help. */
  allReady(timeoutMs: number): Promise<number>;
}
