import { type EventOf, type EventSpec, eventFilter, eventSchema } from '@kith/contracts';
import type { Bus, Intake } from '../bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** What a service does with the events it takes in, in one durable consumer. */
export interface EventSubscription<App, E extends EventSpec = EventSpec> {
  /** `<service>-<purpose>`. */
  durable: string;
  events: readonly E[];
  /** Applies one event. It may come again, late or out of turn: apply by `aggregate.seq` or under the event's id. */
  apply(event: EventOf<E>, app: App): Promise<void>;
}

/** Declares a subscription; the events' types come from their contracts. */
export function subscription<App, E extends EventSpec>(
  options: EventSubscription<App, E>,
): EventSubscription<App> {
  return options as unknown as EventSubscription<App>;
}

/** Starts a subscription: each event is parsed by its schema before it is applied. */
export function subscribe<App>(
  subscribed: EventSubscription<App>,
  options: { bus: Bus; metrics: Metrics; app: App },
): Promise<Intake> {
  const { bus, metrics, app } = options;
  const schemas = new Map(subscribed.events.map((spec) => [spec.type as string, eventSchema(spec)]));
  return bus.consume(
    { durable: subscribed.durable, subjects: subscribed.events.map((spec) => eventFilter(bus.prefix, spec)) },
    async (delivery) => {
      try {
        const content = JSON.parse(new TextDecoder().decode(delivery.body));
        const schema = schemas.get(content.type);
        if (!schema) throw new Error(`Events of type ${content.type} are not subscribed to.`);
        await subscribed.apply(schema.parse(content) as EventOf<EventSpec>, app);
        metrics.eventsConsumed.inc({ durable: subscribed.durable, outcome: 'applied' });
      } catch (error) {
        metrics.eventsConsumed.inc({ durable: subscribed.durable, outcome: 'failed' });
        throw error;
      }
    },
  );
}
