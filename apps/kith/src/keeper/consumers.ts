import { eventFilter } from '@kith/contracts';
import { services } from '../services.ts';

/** The durable consumers of all services, from the manifests. Each consumer is listed with the subjects that it receives. */
export function consumersOf(prefix: string): { durable: string; subjects: string[] }[] {
  return services.flatMap(({ subscriptions = [] }) =>
    subscriptions.map(({ durable, events }) => ({
      durable,
      subjects: events.map((spec) => eventFilter(prefix, spec)),
    })),
  );
}
