import type { Bus } from '@kith/bus';
import type { Outbox } from '@kith/store';

/**
 * Takes up what follows from a restore: what the service had taken in since its backup is delivered once more. `finish` is to be
 * called once the rest is done.
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
