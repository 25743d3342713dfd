import { type AuditRow, auditRecorded, type EventEnvelope, featureOf, serviceOf } from '@kith/contracts';
import { movedDocuments } from '@kith/store/open';

/**
 * Every service but the gateway. Whatever lists services is made from this list (docs/adr/0042). They start in this order: a
 * service comes after those whose data its own data refers to.
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

/** The name of a service or the gateway: each can run as a process of its own. */
export type ProcessName = ServiceProcessName | 'gateway';

export const serviceNames = services.map(({ name }) => name);

/** The services that need the secret of the installation: those that read KITH_SECRET. */
export const secretNames = services
  .filter(({ config }) => 'KITH_SECRET' in config.shape)
  .map(({ name }) => name);

/** The services that take and give bytes over HTTP. */
export const streamingNames = services.filter(({ streams }) => streams).map(({ name }) => name);

const stores = services.flatMap((manifest) => manifest.stores ?? []);

/** Every service that stores data. */
export const storingNames = stores.map(({ service }) => service);
export const serviceMoves = stores.map(movedDocuments);

/**
 * The services that store data in the order in which they are copied: each before those whose data it refers to, so that a copy
 * refers to nothing that it lacks.
 */
export const serviceBackups = stores.toReversed();

/** The service that has published an event; `undefined` if no service publishes events of its type. */
export function serviceOfEvent({ type, data }: Pick<EventEnvelope, 'type' | 'data'>): string | undefined {
  // Each service publishes the audit rows of its own operations.
  if (type === auditRecorded.type) return serviceOf({ name: (data as AuditRow).action });
  const feature = featureOf({ type });
  return services.find(({ emits }) => emits?.some((one) => one === feature))?.name;
}
