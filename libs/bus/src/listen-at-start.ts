import { setTimeout as wait } from 'node:timers/promises';
import { type Bus, type Intake, NoResponders, type Notice } from './bus.ts';

/**
 * Listens to notices, as `bus.listen` does, but tries again as long as there is no connection. So the start of a process does
 * not fail if the connection is interrupted, no matter for how long.
 */
export async function listenAtStart(
  bus: Bus,
  subject: string,
  hear: (notice: Notice) => void,
): Promise<Intake> {
  for (;;) {
    try {
      return await bus.listen(subject, hear);
    } catch (error) {
      if (!(error instanceof NoResponders)) throw error;
      await wait(250);
    }
  }
}
