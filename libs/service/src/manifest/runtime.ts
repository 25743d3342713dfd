import type { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Logger } from 'pino';
import type { StoreTimes } from '../background/store-watch.ts';

/** A running service. A second call of `stop` changes nothing. */
export interface RunningService extends AsyncDisposable {
  readonly name: string;
  /** The reasons why the service is not ready yet; empty when it is ready. */
  notReady(): Promise<readonly string[]>;
  /** Resolves when the store has been unreachable for so long that only a new process can help. */
  readonly failed?: Promise<Error>;
  /** The address at which the service receives and sends bytes. Gateways use it. */
  readonly httpUrl?: string;
  /** The address of the operators' endpoints, for a gateway that serves them on a separate port. */
  readonly adminUrl?: string;
  /**
   * Reports not ready from now on, and answers with `Connection: close`. Continues to serve for `DRAIN_MS`. In this time,
   * balancers notice at their next check that the process is not ready, and send no more requests. Resolves when `DRAIN_MS` is
   * over. After that, the caller has to call `stop`. A service to which no balancer sends requests has no `drain`.
   */
  drain?(): Promise<void>;
  /** Stops the intake, waits a limited time for work in flight, then closes the stores. The bus stays open. */
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
  /** How often and how long to check the store, if this differs from the default. */
  storeTimes?: Partial<StoreTimes>;
}
