import { type AuditRow, auditRecorded, type EventEnvelope, featureOf, serviceOf } from '@kith/contracts';
import { movedDocuments } from '@kith/store/open';

/**
 * Every service but the gateway: all that lists services is made from here (docs/adr/0042). They start in this order. A service
 * stands below those whose data its own refers to.
 */
export const services = (
  await Promise.all([
    import('@kith/identity'),
    import('@kith/crypto'),
    import('@kith/connections'),
    import('@kith/collections'),
    import('@kith/notifications'),
    import('@kith/storage'),
  ])
).map(({ manifest }) => manifest);

export type ServiceProcessName = (typeof services)[number]['name'];

/** What runs as a process of its own. */
export type ProcessName = ServiceProcessName | 'gateway';

export const serviceNames = services.map(({ name }) => name);

/** Those that need the secret of the installation, by what they read from their environment. */
export const secretNames = services
  .filter(({ config }) => 'KITH_SECRET' in config.shape)
  .map(({ name }) => name);

/** Those whose bytes go over HTTP. */
export const streamingNames = services.filter(({ streams }) => streams).map(({ name }) => name);

const stores = services.flatMap((manifest) => manifest.stores ?? []);

/** Every service that stores data. */
export const storingNames = stores.map(({ service }) => service);
export const serviceMoves = stores.map(movedDocuments);

/** The same in the order in which they are copied: each before those whose data it refers to, so that a copy refers to nothing missing. */
export const serviceBackups = stores.toReversed();

/** The service that has published an event; `undefined` where none publishes such. */
export function serviceOfEvent({ type, data }: Pick<EventEnvelope, 'type' | 'data'>): string | undefined {
  // Each service tells of its own operations.
  if (type === auditRecorded.type) return serviceOf({ name: (data as AuditRow).action });
  const feature = featureOf({ type });
  return services.find(({ emits }) => emits?.some((one) => one === feature))?.name;
}
