import { subjectMatches } from '@kith/bus';
import type { NatsBus, Position } from '@kith/bus/nats';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { DocumentsFile } from '@kith/store/backup';
import { ServiceCopy } from '@kith/store/mongo';
import { serviceBackups, serviceOfEvent } from '../../services.ts';

/** The databases and the bus of a platform in the distributed form. */
export interface Databases {
  mongodbUrl: string;
  prefix: string;
  bus: NatsBus;
}

/** Copies the databases of a running platform to files of a folder. Throws `StartError`. */
export async function copyDatabases(
  { mongodbUrl: url, prefix, bus }: Databases,
  fileOf: (service: string) => string,
  progress: (line: string) => void,
): Promise<void> {
  // The positions of the consumers are read before the databases are copied. If a consumer has not received an event yet at
  // this moment, the restored platform publishes the event again.
  const consumers = await bus.consumers();
  await using copies = new AsyncDisposableStack();
  const all: { copy: ServiceCopy; file: DocumentsFile }[] = [];
  for (const backup of serviceBackups) {
    const { service, declared } = backup;
    const file = copies.use(new DocumentsFile(fileOf(service), declared));
    const from = { url, database: `${prefix}_${service}` };
    const told = (collection: string, documents: number) =>
      progress(`${service}.${collection}: ${documents}`);
    const options = {
      hasArrived: (event: EventEnvelope, position: number) => hasArrived(bus, consumers, event, position),
      givenUp: () => givenUp(bus, consumers, service),
      progress: told,
    };
    const copy = copies.use(await ServiceCopy.open(backup, from, file, options));
    all.push({ copy, file });
  }
  for (const { copy } of all) await copy.copyEarly();
  for (const { copy, file } of all) {
    await copy.copy();
    file.close();
  }
}

/** Whether all consumers of an event had received the event when their positions were read. */
function hasArrived(
  { prefix }: NatsBus,
  consumers: readonly Position[],
  event: EventEnvelope,
  position: number,
): boolean {
  const subject = eventSubject(prefix, event);
  const takers = consumers.filter(({ subjects }) => subjects.some((one) => subjectMatches(one, subject)));
  return takers.every((taker) => taker.position >= position);
}

/**
 * Returns the service's events that a consumer has given up. Also returns replayed events that a consumer may not have received
 * yet.
 */
async function givenUp(
  bus: NatsBus,
  consumers: readonly Position[],
  service: string,
): Promise<EventEnvelope[]> {
  const bodies = await bus.givenUp(consumers);
  return bodies.flatMap((body) => {
    try {
      const event: EventEnvelope = JSON.parse(new TextDecoder().decode(body));
      return serviceOfEvent(event) === service ? [event] : [];
    } catch {
      // This dead letter does not hold an event of a service.
      return [];
    }
  });
}
