import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LiveGauge } from './live-gauge.ts';
import { version } from './version.ts';

const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const lags = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900];

/**
 * A process's metrics, named as is usual for Prometheus. All metrics are in one registry, which is passed down and never
 * global. No label names a project or a user. So the number of series depends on the contracts, not on the number of projects
 * or users. docs/metrics.md is made from this file.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #of = { registers: [this.registry] };

  readonly ready = new LiveGauge({
    name: 'kith_ready',
    help: 'Whether the process is ready, as `/readyz` says',
    ...this.#of,
  });

  readonly httpRequests = new Counter({
    name: 'kith_http_requests_total',
    help: 'HTTP requests the gateway has answered, by operation (`none`: no endpoint), method and status',
    labelNames: ['operation', 'method', 'status'],
    ...this.#of,
  });
  readonly httpSeconds = new Histogram({
    name: 'kith_http_request_duration_seconds',
    help: 'Time of an HTTP request in the gateway, by operation and status; of a stream, how long it was open',
    labelNames: ['operation', 'status'],
    buckets: durations,
    ...this.#of,
  });
  readonly streamsOpen = new Gauge({
    name: 'kith_streams_open',
    help: 'Streams the gateway holds open',
    ...this.#of,
  });

  readonly operations = new Counter({
    name: 'kith_operations_total',
    help: 'Operations a service has worked on, by outcome (`ok`, `refused`, `failed`, `expired`, `shed`) and error code',
    labelNames: ['operation', 'outcome', 'code'],
    ...this.#of,
  });
  readonly operationSeconds = new Histogram({
    name: 'kith_operation_duration_seconds',
    help: 'Time a service worked on an operation, by status',
    labelNames: ['operation', 'status'],
    buckets: durations,
    ...this.#of,
  });
  readonly operationsExpired = new Counter({
    name: 'kith_operations_expired_total',
    help: 'Requests not worked on because their deadline had passed',
    labelNames: ['operation'],
    ...this.#of,
  });
  readonly operationsInFlight = new Gauge({
    name: 'kith_operations_in_flight',
    help: 'Operations being worked on',
    ...this.#of,
  });

  readonly busFailures = new Counter({
    name: 'kith_bus_failures_total',
    help: 'Questions on the bus without an answer, by the service asked and reason (`no_responders`, `timeout`, `error`)',
    labelNames: ['service', 'reason'],
    ...this.#of,
  });
  readonly busConnected = new LiveGauge({
    name: 'kith_bus_connected',
    help: 'Whether the process is connected to the bus',
    ...this.#of,
  });
  readonly busReconnects = new Counter({
    name: 'kith_bus_reconnects_total',
    help: 'Times the connection to the bus was lost and is there again',
    ...this.#of,
  });

  readonly storeUp = new LiveGauge({
    name: 'kith_store_up',
    help: 'Whether the database of a service has answered its last check; while it has not, consumers wait',
    labelNames: ['service'],
    ...this.#of,
  });

  readonly eventsPublished = new Counter({
    name: 'kith_events_published_total',
    help: 'Events handed to the bus',
    ...this.#of,
  });
  readonly eventsNotPublished = new Counter({
    name: 'kith_events_publish_failures_total',
    help: 'Attempts to hand an event to the bus that have failed; they are made again',
    ...this.#of,
  });
  readonly eventsUnpublishedAge = new LiveGauge({
    name: 'kith_events_unpublished_age_seconds',
    help: 'Age of the oldest event that is stored and not on the bus yet; 0 when there is none',
    ...this.#of,
  });
  readonly eventsConsumed = new Counter({
    name: 'kith_events_consumed_total',
    help: 'Events handled, by consumer and outcome (`applied`, `failed`)',
    labelNames: ['durable', 'outcome'],
    ...this.#of,
  });
  readonly eventLag = new Histogram({
    name: 'kith_event_lag_seconds',
    help: 'Time from when an event occurred until a consumer had applied it',
    labelNames: ['durable'],
    buckets: lags,
    ...this.#of,
  });
  readonly eventLastLag = new Gauge({
    name: 'kith_event_last_lag_seconds',
    help: 'The same of the last event that was applied',
    labelNames: ['durable'],
    ...this.#of,
  });
  readonly eventsPending = new LiveGauge({
    name: 'kith_events_pending',
    help: 'Events a consumer has before it, those it tries again included; every replica tells the same',
    labelNames: ['durable'],
    ...this.#of,
  });
  readonly deadLetters = new LiveGauge({
    name: 'kith_dead_letters',
    help: 'Events a consumer has given up and nobody has replayed; every replica tells the same',
    labelNames: ['durable'],
    ...this.#of,
  });

  readonly limiterStore = new LiveGauge({
    name: 'kith_limiter_store',
    help: 'Where limits are counted now: 1 for that of `redis` and `memory`',
    labelNames: ['store'],
    ...this.#of,
  });
  readonly limiterDegraded = new LiveGauge({
    name: 'kith_limiter_degraded',
    help: 'Whether limits that are to be shared in Redis are counted in memory, as it is away',
    ...this.#of,
  });
  readonly limiterRefusals = new Counter({
    name: 'kith_limiter_refusals_total',
    help: 'Requests refused because a limit was spent',
    labelNames: ['operation'],
    ...this.#of,
  });
  readonly limiterRedisErrors = new Counter({
    name: 'kith_limiter_redis_errors_total',
    help: 'Counts that Redis has not taken',
    ...this.#of,
  });

  readonly tableEntries = new LiveGauge({
    name: 'kith_gateway_table_entries',
    help: 'Entries of a table the gateway keeps of identity (`revoked_sessions`, `suspended_users`, `project_settings`, `api_keys`)',
    labelNames: ['table'],
    ...this.#of,
  });
  readonly tableAge = new LiveGauge({
    name: 'kith_gateway_table_age_seconds',
    help: 'Time since identity has told a table as a whole (`revocations`, `project_settings`, `api_keys`); absent before the first',
    labelNames: ['table'],
    ...this.#of,
  });

  constructor(options: { process?: boolean } = {}) {
    new Gauge({
      name: 'kith_build_info',
      help: 'Always 1: what runs here',
      labelNames: ['version', 'node'],
      ...this.#of,
    }).set({ version, node: process.version }, 1);
    if (options.process) collectDefaultMetrics({ register: this.registry });
  }
}
