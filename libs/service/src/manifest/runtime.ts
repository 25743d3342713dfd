import type { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Logger } from 'pino';
import type { StoreTimes } from '../background/store-watch.ts';

/** A running service. Stopping it twice is the same as stopping it once. */
export interface RunningService extends AsyncDisposable {
  readonly name: string;
  /** What is still missing before the service is ready; empty when it is ready. */
  notReady(): Promise<readonly string[]>;
  /** Resolves when the store has been away for so long that only a new process can help. */
  readonly failed?: Promise<Error>;
  /** Where it takes and gives bytes, for gateways. */
  readonly httpUrl?: string;
  /** The address of the operators' endpoints, for a gateway that serves them on a port of their own. */
  readonly adminUrl?: string;
  /** Stops intake, waits for work in flight (bounded), then closes the stores. The bus stays open. */
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
  /** How often and how long to check the store, where that differs from the default. */
  storeTimes?: Partial<StoreTimes>;
}
