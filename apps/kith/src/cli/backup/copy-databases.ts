import { subjectMatches } from '@kith/bus';
import type { NatsBus } from '@kith/bus/nats';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { DocumentsFile } from '@kith/store/backup';
import { type CopyOptions, ServiceCopy } from '@kith/store/mongo';
import { serviceBackups } from '../../services.ts';

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
  // The consumers are read first. If one has not received an event by now, the restored platform publishes the event again.
  const hasArrived = await arrivals(bus);
  await using copies = new AsyncDisposableStack();
  const all: { copy: ServiceCopy; file: DocumentsFile }[] = [];
  for (const backup of serviceBackups) {
    const { service, declared } = backup;
    const file = copies.use(new DocumentsFile(fileOf(service), declared));
    const from = { url, database: `${prefix}_${service}` };
    const told = (collection: string, documents: number) =>
      progress(`${service}.${collection}: ${documents}`);
    const copy = copies.use(await ServiceCopy.open(backup, from, file, { hasArrived, progress: told }));
    all.push({ copy, file });
  }
  for (const { copy } of all) await copy.copyEarly();
  for (const { copy, file } of all) {
    await copy.copy();
    file.close();
  }
}

/**
 * Reads how far each consumer has come. Returns a function that reports whether all consumers of an event had received it by then.
 * If a consumer has given up an event, the event does not count as received.
 */
async function arrivals(bus: NatsBus): Promise<CopyOptions['hasArrived']> {
  const consumers = await bus.consumers();
  const dead = new Set<string>();
  for (const { durable } of consumers) {
    for (const { id } of await bus.deadLetters(durable)) dead.add(id);
  }
  return (event: EventEnvelope, position: number) => {
    const subject = eventSubject(bus.prefix, event);
    const takers = consumers.filter(({ subjects }) => subjects.some((one) => subjectMatches(one, subject)));
    return !dead.has(event.id) && takers.every((taker) => taker.position >= position);
  };
}
