import type { Logger } from '@kith/base';
import { Sweeper } from '@kith/service';
import type { AppContext } from './app.ts';
import { finishEndings } from './sessions.ts';
import { endSuspensions } from './suspension.ts';
import type { KeyTimes } from './tokens/signing-keys.ts';

/** What is done again and again: sessions that a process died over are ended, suspensions whose time is over, those over are taken away, keys kept up. */
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
  return [
    new Sweeper(sessions, { everyMs, log }),
    new Sweeper(() => app.keys.keepUp(), { everyMs: times.reloadMs, log }),
  ];
}
