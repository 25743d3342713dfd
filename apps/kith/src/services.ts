import { type AuditRow, auditRecorded, type EventEnvelope, featureOf, serviceOf } from '@kith/contracts';
import { movedDocuments } from '@kith/store/open';

/**
 * Every service except the gateway. All other lists of services are made from this one (docs/adr/0042). The services start in this
 * order. If a service's data refers to another service's data, the other service starts first.
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

/** The name of a service or of the gateway. Each service and the gateway can run as a process of its own. */
export type ProcessName = ServiceProcessName | 'gateway';

export const serviceNames = services.map(({ name }) => name);

/** The services that read KITH_SECRET, the secret of the installation. */
export const secretNames = services
  .filter(({ config }) => 'KITH_SECRET' in config.shape)
  .map(({ name }) => name);

/** The durable consumers of all services. */
export const durables = services.flatMap(({ subscriptions = [] }) =>
  subscriptions.map(({ durable }) => durable),
);

/** The services that receive and send bytes over HTTP. */
export const streamingNames = services.filter(({ streams }) => streams).map(({ name }) => name);

const stores = services.flatMap((manifest) => manifest.stores ?? []);

/** Every service that stores data. */
export const storingNames = stores.map(({ service }) => service);
export const serviceMoves = stores.map(movedDocuments);

/**
 * The services that store data, in the order in which they are copied. If data of service A refers to data of service B, A is
 * copied before B. So the copy of B is newer, and has all data that the copy of A refers to.
 */
export const serviceBackups = stores.toReversed();

/** The service that has published an event; `undefined` if no service publishes events of its type. */
export function serviceOfEvent({ type, data }: Pick<EventEnvelope, 'type' | 'data'>): string | undefined {
  // Each service publishes the audit rows of its own operations.
  if (type === auditRecorded.type) return serviceOf({ name: (data as AuditRow).action });
  const feature = featureOf({ type });
  return services.find(({ emits }) => emits?.some((one) => one === feature))?.name;
}
