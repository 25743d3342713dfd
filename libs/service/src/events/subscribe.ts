import type { Metrics } from '@kith/base';
import type { Backlog, Bus, Delivery, Intake } from '@kith/bus';
import { type EventOf, type EventSpec, eventFilter, eventSchema } from '@kith/contracts';
import type { Progress } from '@kith/store';
import type { StoreWatch } from '../background/store-watch.ts';

/** What a service does with the events of one durable consumer. */
export interface EventSubscription<App, E extends EventSpec = EventSpec> {
  /** `<service>-<purpose>`. */
  durable: string;
  events: readonly E[];
  /**
   * Applies one event. An event may come again, late or out of order. So compare its `aggregate.seq` with the last applied
   * `seq`, or store its effect under the event's id.
   */
  apply(event: EventOf<E>, app: App): Promise<void>;
  /**
   * How many events a process applies at the same time. While a process applies an event, it mostly waits for its database, so
   * it can apply several events at the same time. If the number is 1, events are usually applied in the order in which they
   * occurred. With a larger number, the order may change, in the same way as with several replicas. In the embedded form,
   * databases answer without waiting, so events are always applied one by one.
   */
  atOnce?: number;
}

/** Declares a subscription. The types of the events come from their contracts. */
export function subscription<App, E extends EventSpec>(
  options: EventSubscription<App, E>,
): EventSubscription<App> {
  return options as unknown as EventSubscription<App>;
}

/** The default number of events that are applied at the same time. */
const someAtOnce = 4;

/**
 * Starts a subscription. Each event is parsed with its schema before it is applied. While the store does not answer, the events
 * that are being applied wait, and no other event is begun.
 */
export async function subscribe<App>(
  subscribed: EventSubscription<App>,
  options: {
    bus: Bus;
    metrics: Metrics;
    app: App;
    store?: StoreWatch | undefined;
    progress?: Progress | undefined;
  },
): Promise<Intake> {
  const { bus, metrics, app, store, progress } = options;
  const { durable, atOnce = someAtOnce } = subscribed;
  const schemas = new Map(subscribed.events.map((spec) => [spec.type as string, eventSchema(spec)]));
  const handle = async (delivery: Delivery) => {
    try {
      const content = JSON.parse(new TextDecoder().decode(delivery.body));
      const schema = schemas.get(content.type);
      if (!schema) throw new Error(`This consumer does not subscribe to events of type ${content.type}.`);
      const event = schema.parse(content) as EventOf<EventSpec>;
      await applied(() => subscribed.apply(event, app), store);
      metrics.eventsConsumed.inc({ durable, outcome: 'applied' });
      measureLag(metrics, durable, event);
    } catch (error) {
      metrics.eventsConsumed.inc({ durable, outcome: 'failed' });
      throw error;
    }
  };
  const subjects = subscribed.events.map((spec) => eventFilter(bus.prefix, spec));
  const intake = await bus.consume({ durable, subjects, atOnce, progress }, handle);
  let asked: Promise<Backlog> | undefined;
  // A scrape of the metrics reads two numbers of the backlog. One request to the bus returns both.
  const backlog = () => {
    asked ??= bus.backlog(durable).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  const unwatch = [
    metrics.eventsPending.watch({ durable }, async () => (await backlog()).pending),
    metrics.deadLetters.watch({ durable }, async () => (await backlog()).dead),
  ];
  return {
    async drain() {
      for (const end of unwatch) end();
      await intake.drain();
    },
  };
}

/** Applies an event. If this fails because the store is unavailable, applies the event again when the store is back. */
async function applied(apply: () => Promise<void>, store: StoreWatch | undefined): Promise<void> {
  for (;;) {
    try {
      return await apply();
    } catch (error) {
      if (!(await store?.waitedForIt())) throw error;
    }
  }
}

function measureLag(metrics: Metrics, durable: string, { occurredAt }: { occurredAt: string }): void {
  // The clocks of two machines may differ so much that the event seems to have been applied before it occurred. Then the lag
  // counts as 0.
  const seconds = Math.max(0, Date.now() - Date.parse(occurredAt)) / 1000;
  metrics.eventLag.observe({ durable }, seconds);
  metrics.eventLastLag.set({ durable }, seconds);
}
