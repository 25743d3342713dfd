import type { Logger } from '@kith/base';
import { Sweeper } from '@kith/service';
import type { AppContext } from './app.ts';
import { finishEndings } from './sessions.ts';
import { endSuspensions } from './suspension.ts';
import type { KeyTimes } from './tokens/signing-keys.ts';

/**
 * How often to look for values that are sealed under an older secret, and to seal them again under the new secret, in ms. This
 * is done again and again, because a replica that has only the older secret seals new values under it.
 */
const resealEveryMs = 10 * 60_000;

/**
 * Starts the recurring work: ends sessions that a dead process should have ended, ends suspensions whose time is over, removes
 * what has expired, and renews keys.
 */
export function startUpkeep(
  app: AppContext,
  options: { times: KeyTimes; everyMs: number; log: Logger },
): Sweeper[] {
  const { times, everyMs, log } = options;
  const sessions = async () => {
    await finishEndings(app);
    await endSuspensions(app);
    await app.store.sweep();
  };
  const reseal = async () => {
    const { anew } = await app.store.reseal(app.secrets);
    if (anew > 0) log.info({ anew }, 'sealed anew under the current KITH_SECRET');
  };
  const resealing = app.secrets.hasPrevious ? [new Sweeper(reseal, { everyMs: resealEveryMs, log })] : [];
  for (const sweeper of resealing) sweeper.kick();
  return [
    ...resealing,
    new Sweeper(sessions, { everyMs, log }),
    new Sweeper(() => app.keys.keepUp(), { everyMs: times.reloadMs, log }),
  ];
}
