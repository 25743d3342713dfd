import { createLogger, Metrics } from '@kith/base';
import {
  type Bus,
  BusWrapper,
  type ConsumeOptions,
  type Delivery,
  type Intake,
  observedBus,
} from '@kith/bus';
import { startConnections } from '@kith/connections';
import type { RunningService } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import type { Lags } from './lags.ts';

/**
 * A bus that records the delay of each event: the time from the event's occurrence until it was applied to the copy of
 * profiles.
 */
class NotingBus extends BusWrapper {
  readonly #lags: Lags;

  constructor(inner: Bus, lags: Lags) {
    super(inner);
    this.#lags = lags;
  }

  override consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    if (options.durable !== 'connections-profiles') return super.consume(options, handle);
    return super.consume(options, async (delivery) => {
      await handle(delivery);
      this.#lags.applied(occurredAt(delivery.body), Date.now());
    });
  }
}

const mark = Buffer.from('"occurredAt":"');
const timeLength = '2026-01-01T00:00:00.000Z'.length;

/**
 * Reads the time of an event's occurrence from the event's JSON. Does not parse the JSON, because the service parses it anyway.
 */
function occurredAt(body: Uint8Array): number {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const from = text.indexOf(mark) + mark.length;
  return Date.parse(text.toString('latin1', from, from + timeLength));
}

/** Starts the connections service, which applies the events to its copy of users' profiles. */
export function startConsumer(
  bus: Bus,
  { store, lags, system }: { store: StoreConfig; lags: Lags; system: 'nats' | 'in_process' },
): Promise<RunningService> {
  const metrics = new Metrics({ process: true });
  const observed = observedBus(new NotingBus(bus, lags), { metrics, system });
  const log = createLogger({ name: 'connections', level: 'warn' });
  return startConnections({ bus: observed, log, metrics, nodeEnv: 'production' }, { store });
}
