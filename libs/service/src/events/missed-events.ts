import type { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Outbox } from '@kith/store';
import type { Logger } from 'pino';
import { Sweeper } from '../background/sweeper.ts';

/** What a check of the consumers needs. */
interface Checked {
  bus: Bus;
  outbox: Outbox;
  durables: readonly string[];
  metrics: Metrics;
  log: Logger;
}

/** How often the positions are noted, in ms. */
const everyMs = 10 * 60_000;

/**
 * Notes again and again how far the durable consumers of a service have come. Reports a consumer if events above its noted
 * position have left the log, because the consumer may have missed them (docs/adr/0062).
 */
export class MissedEvents {
  readonly #checked: Checked;
  readonly #sweeper: Sweeper;

  constructor(checked: Checked) {
    this.#checked = checked;
    this.#sweeper = new Sweeper(() => checkForMissed(checked), { everyMs, log: checked.log });
    this.#sweeper.kick();
  }

  async stop({ note }: { note: boolean }): Promise<void> {
    await this.#sweeper.stop();
    if (!note) return;
    await checkForMissed(this.#checked).catch((error) =>
      this.#checked.log.warn({ err: error }, 'the positions of the consumers were not noted'),
    );
  }
}

async function checkForMissed({ bus, outbox, durables, metrics, log }: Checked): Promise<void> {
  if (durables.length === 0) return;
  const { created, first } = await bus.log();
  const heard = await outbox.fact('heard');
  // If the log was lost, the services publish its events again, so the old positions mean nothing (docs/adr/0027).
  const before = heard?.created === created ? heard.positions : {};
  const positions = { ...before };
  for (const durable of durables) {
    const known = before[durable];
    if (known !== undefined && first > known + 1) {
      metrics.eventsMissed.inc({ durable });
      log.error(
        { durable, after: known, before: first },
        'a consumer may have missed events: they have left the log',
      );
    }
    // The position of a consumer whose subjects are quiet falls behind the log. Its noted position does not.
    positions[durable] = Math.max(known ?? 0, first - 1, await bus.position(durable));
  }
  await outbox.noteFact('heard', { created, positions });
}
