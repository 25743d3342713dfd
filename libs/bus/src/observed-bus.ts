import { type Metrics, tracing } from '@kith/base';
import type { Bus } from './bus.ts';
import { MeasuredBus } from './measured-bus.ts';
import { TracingBus } from './tracing-bus.ts';

/** Wraps a bus, so that it is measured, and also traced if tracing is on in this process. */
export function observedBus(bus: Bus, options: { metrics: Metrics; system: 'nats' | 'in_process' }): Bus {
  const measured = new MeasuredBus(bus, options.metrics);
  const traces = tracing();
  return traces ? new TracingBus(measured, { tracing: traces, system: options.system }) : measured;
}
