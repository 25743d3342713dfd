import type { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Outbox } from '@kith/store';
import type { Logger } from 'pino';

/** What a check of the consumers needs. */
interface Checked {
  bus: Bus;
  outbox: Outbox;
  durables: readonly string[];
  metrics: Metrics;
  log: Logger;
}

/** How often to check, in ms. */
export const checkMissedMs = 10 * 60_000;
/** The log keeps events for seven days. This time is an hour shorter, because clocks differ. */
const keptMs = (7 * 24 - 1) * 3600 * 1000;

/**
 * For each durable consumer of a service, notes the end of the log up to which the consumer has received all events. Reports a
 * consumer if the note is about seven days old or older, and events after the noted end have left the log since
 * (docs/adr/0061).
 */
export async function checkForMissed({ bus, outbox, durables, metrics, log }: Checked): Promise<void> {
  if (durables.length === 0) return;
  const { created, first, last, keepsUnheard } = await bus.log();
  if (keepsUnheard) return;
  const heard = await outbox.fact('heard');
  // If the log was lost, the services publish its events again, so the old positions mean nothing (docs/adr/0027).
  const noted = heard?.created === created ? { ...heard.durables } : {};
  const now = Date.now();
  for (const durable of durables) {
    const before = noted[durable];
    // This comparison comes first, because NATS counts an event that leaves the log as acknowledged, even if the consumer has
    // not received it.
    const hasMissed = before && before.at < now - keptMs && before.position + 1 < first;
    if (hasMissed) {
      metrics.eventsMissed.inc({ durable });
      log.error(
        { durable, after: before.position, before: first },
        'a consumer may have missed events: they have left the log',
      );
    }
    const end = { position: last, at: now };
    const { pending, position } = await bus.backlog(durable);
    if (pending === 0) noted[durable] = end;
    else if (!before || hasMissed) noted[durable] = { position: first - 1, at: now };
    // Some consumers always have events under way, so `pending` is never 0. For such a consumer, the check also notes a later
    // end of the log (`next`). When the consumer has passed this end, the note advances to it.
    else if (!before.next || position >= before.next.position)
      noted[durable] = { ...before, ...before.next, next: end };
  }
  await outbox.noteFact('heard', { created, durables: noted });
}
