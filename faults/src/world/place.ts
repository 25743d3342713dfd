import type { EventLog } from '../check/event-log.ts';

/** A running platform, in one of its forms, in which faults can be caused. */
export interface Place extends AsyncDisposable {
  /** The address for its users. */
  url: string;
  operatorToken: string;
  log: EventLog;
  /** Waits until every process says that it is ready, without helping; resolves with how long that took, in ms. */
  allReady(timeoutMs: number): Promise<number>;
}
