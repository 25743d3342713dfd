import type { Bus } from '@kith/bus';
import type { Outbox } from '@kith/store';

/**
 * If the service's store was restored from a backup, makes the bus deliver events again. So the service receives again all
 * events that it had received after the backup was made. Returns `undefined` if nothing was restored. Call `finish` when all
 * other steps are done.
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
