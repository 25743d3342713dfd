import type { Bus } from '@kith/bus';
import type { Outbox } from '@kith/store';

/**
 * If the service's store was restored from a backup, makes the bus deliver all events of its log again. The restored store
 * lacks the effects of the events that the service received after the backup was made, so the service must receive these events
 * again. Returns `undefined` if nothing was restored. Call `finish` when all other steps that follow from the restore are done.
 */
export async function startOverIfRestored(
  { bus, outbox }: { bus: Bus; outbox: Outbox },
  durables: readonly string[],
): Promise<{ finish(): Promise<void> } | undefined> {
  const { isNew, ...epoch } = (await outbox.fact('epoch')) ?? { number: 0 };
  if (!isNew) return undefined;
  for (const durable of durables) await bus.startOver(durable);
  return { finish: () => outbox.noteFact('epoch', epoch) };
}
