import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A process's metrics (Prometheus naming): one registry, handed down, never global. */
export class Metrics {
  readonly registry = new Registry();
  readonly operationSeconds = new Histogram({
    name: 'kith_operation_duration_seconds',
    help: 'Time a service worked on an operation, by status',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly operationsExpired = new Counter({
    name: 'kith_operations_expired_total',
    help: 'Requests not worked on because their deadline had passed',
    labelNames: ['operation'],
    registers: [this.registry],
  });
  readonly operationsInFlight = new Gauge({
    name: 'kith_operations_in_flight',
    help: 'Operations being worked on',
    registers: [this.registry],
  });
  readonly httpSeconds = new Histogram({
    name: 'kith_http_request_duration_seconds',
    help: 'Time of an HTTP request in the gateway, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly streamsOpen = new Gauge({
    name: 'kith_streams_open',
    help: 'Streams the gateway holds open',
    registers: [this.registry],
  });
  readonly eventsPublished = new Counter({
    name: 'kith_events_published_total',
    help: 'Events handed to the bus',
    registers: [this.registry],
  });
  readonly eventsConsumed = new Counter({
    name: 'kith_events_consumed_total',
    help: 'Events handled, by consumer and outcome',
    labelNames: ['durable', 'outcome'],
    registers: [this.registry],
  });

  constructor(options: { process?: boolean } = {}) {
    if (options.process) collectDefaultMetrics({ register: this.registry });
  }
}
