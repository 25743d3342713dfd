import type { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Logger } from 'pino';
import type { StoreTimes } from '../background/store-watch.ts';

/** A service that runs. Ending it twice is ending it once. */
export interface RunningService extends AsyncDisposable {
  readonly name: string;
  /** What is missing for being ready; nothing when ready. */
  notReady(): Promise<readonly string[]>;
  /** Resolves when the store has been away for so long that only a new process can help. */
  readonly failed?: Promise<Error>;
  /** Where it takes and gives bytes, for gateways. */
  readonly httpUrl?: string;
  /** Of a gateway whose operators' endpoints have a port of their own: where they are. */
  readonly adminUrl?: string;
  /** Stop intake, wait for what is in flight (bounded), then let go of the stores. The bus stays. */
  stop(): Promise<void>;
}

/** What every service is given: the process's bus, log and metrics. */
export interface ServiceRuntime {
  bus: Bus;
  log: Logger;
  metrics: Metrics;
  nodeEnv: 'production' | 'development' | 'test';
  /** `OPERATIONS_AT_ONCE` */
  operationsAtOnce?: number;
  /** Times of looking after the store, where they are to differ. */
  storeTimes?: Partial<StoreTimes>;
}
