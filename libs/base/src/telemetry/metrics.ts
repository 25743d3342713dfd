import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LiveGauge } from './live-gauge.ts';
import { version } from './version.ts';

const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const lags = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900];

/**
 * A process's metrics. Their names follow the conventions of Prometheus. All metrics are in one registry, which is passed down
 * and never global. No label names a project or a user. So the number of series depends on the contracts, not on the number of
 * projects or users. docs/metrics.md is made from this file.
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
    help: 'HTTP requests that the gateway has answered, by operation (`none`: no endpoint), method and status',
    labelNames: ['operation', 'method', 'status'],
    ...this.#of,
  });
  readonly httpSeconds = new Histogram({
    name: 'kith_http_request_duration_seconds',
    help: 'Time that the gateway took for an HTTP request, by operation and status. For a stream, how long it was open',
    labelNames: ['operation', 'status'],
    buckets: durations,
    ...this.#of,
  });
  readonly httpConnectionsOpen = new Gauge({
    name: 'kith_http_connections_open',
    help: 'Connections of clients that are open at the gateway',
    ...this.#of,
  });
  readonly httpConnectionsRefused = new Counter({
    name: 'kith_http_connections_refused_total',
    help: 'Connections of clients that the gateway has closed immediately, by reason (`all`: more than `MAX_CONNECTIONS`; `address`: more than `MAX_CONNECTIONS_PER_ADDRESS`)',
    labelNames: ['reason'],
    ...this.#of,
  });
  readonly streamsOpen = new Gauge({
    name: 'kith_streams_open',
    help: 'Streams that are open at the gateway',
    ...this.#of,
  });

  readonly operations = new Counter({
    name: 'kith_operations_total',
    help: 'Requests that a service has handled, by operation, outcome (`ok`, `refused`, `failed`, `expired`, `shed`) and error code',
    labelNames: ['operation', 'outcome', 'code'],
    ...this.#of,
  });
  readonly operationSeconds = new Histogram({
    name: 'kith_operation_duration_seconds',
    help: 'Time that a service worked on an operation, by status',
    labelNames: ['operation', 'status'],
    buckets: durations,
    ...this.#of,
  });
  readonly operationsExpired = new Counter({
    name: 'kith_operations_expired_total',
    help: 'Requests that a service did not work on, because their deadline had passed',
    labelNames: ['operation'],
    ...this.#of,
  });
  readonly operationsInFlight = new Gauge({
    name: 'kith_operations_in_flight',
    help: 'Operations that the service is working on now',
    ...this.#of,
  });

  readonly busFailures = new Counter({
    name: 'kith_bus_failures_total',
    help: 'Requests on the bus that got no answer, by the called service and the reason (`no_responders`, `timeout`, `error`)',
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
    help: 'How often the process has reconnected to the bus',
    ...this.#of,
  });

  readonly upstreamFailures = new Counter({
    name: 'kith_upstream_failures_total',
    help: 'Requests about files that a gateway could not pass on to their service over HTTP, by the called service and the reason (`no_address`, `connection_failed`, `timeout`, `invalid_answer`), or whose bytes it could not read itself (`unreadable_file`)',
    labelNames: ['service', 'reason'],
    ...this.#of,
  });

  readonly storeUp = new LiveGauge({
    name: 'kith_store_up',
    help: 'Whether the database of a service, and for `storage` also its file store, have answered the last check. If not, the consumers of the service wait',
    labelNames: ['service'],
    ...this.#of,
  });

  readonly eventsPublished = new Counter({
    name: 'kith_events_published_total',
    help: 'Events that were passed to the bus',
    ...this.#of,
  });
  readonly eventsNotPublished = new Counter({
    name: 'kith_events_publish_failures_total',
    help: 'Failed attempts to pass an event to the bus. Each attempt is repeated',
    ...this.#of,
  });
  readonly eventsUnpublishedAge = new LiveGauge({
    name: 'kith_events_unpublished_age_seconds',
    help: 'Age of the oldest stored event that is not yet on the bus; 0 if there is none',
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
    help: 'Time from the occurrence of an event until a consumer had applied it',
    labelNames: ['durable'],
    buckets: lags,
    ...this.#of,
  });
  readonly eventLastLag = new Gauge({
    name: 'kith_event_last_lag_seconds',
    help: 'Time from the occurrence of the last applied event until the consumer had applied it',
    labelNames: ['durable'],
    ...this.#of,
  });
  readonly eventsPending = new LiveGauge({
    name: 'kith_events_pending',
    help: 'Events that a consumer still has to apply, including those that it will try again. Every replica reports the same number',
    labelNames: ['durable'],
    ...this.#of,
  });
  readonly eventsMissed = new Counter({
    name: 'kith_events_missed_total',
    help: 'How often the log has dropped events that a consumer may not have received, because the consumer was stopped or stuck for too long',
    labelNames: ['durable'],
    ...this.#of,
  });
  readonly deadLetters = new LiveGauge({
    name: 'kith_dead_letters',
    help: 'Events that a consumer has given up and nobody has replayed. Every replica reports the same number',
    labelNames: ['durable'],
    ...this.#of,
  });

  readonly mailAttempts = new Counter({
    name: 'kith_mail_attempts_total',
    help: 'Attempts to send a mail, by outcome (`sent`; `failed`: the mail is tried again; `refused`: the mail server has refused it permanently)',
    labelNames: ['outcome'],
    ...this.#of,
  });

  readonly limiterStore = new LiveGauge({
    name: 'kith_limiter_store',
    help: '1 for the store in which limits are counted now (`redis` or `memory`)',
    labelNames: ['store'],
    ...this.#of,
  });
  readonly limiterDegraded = new LiveGauge({
    name: 'kith_limiter_degraded',
    help: 'Whether limits are counted in memory because Redis is not available',
    ...this.#of,
  });
  readonly limiterRefusals = new Counter({
    name: 'kith_limiter_refusals_total',
    help: 'Requests refused because a rate limit was used up',
    labelNames: ['operation'],
    ...this.#of,
  });
  readonly limiterRedisErrors = new Counter({
    name: 'kith_limiter_redis_errors_total',
    help: 'Requests that could not be counted in Redis',
    ...this.#of,
  });

  readonly tableEntries = new LiveGauge({
    name: 'kith_gateway_table_entries',
    help: 'Entries in a table that the gateway copies from identity (`revoked_sessions`, `suspended_users`, `project_settings`, `api_keys`)',
    labelNames: ['table'],
    ...this.#of,
  });
  readonly tableAge = new LiveGauge({
    name: 'kith_gateway_table_age_seconds',
    help: 'Time since identity last sent a whole table (`revocations`, `project_settings`, `api_keys`); absent until the first table has arrived',
    labelNames: ['table'],
    ...this.#of,
  });

  constructor(options: { process?: boolean } = {}) {
    new Gauge({
      name: 'kith_build_info',
      help: 'Always 1; the labels name the versions that run here',
      labelNames: ['version', 'node'],
      ...this.#of,
    }).set({ version, node: process.version }, 1);
    if (options.process) collectDefaultMetrics({ register: this.registry });
  }
}
