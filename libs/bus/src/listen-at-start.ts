import { setTimeout as wait } from 'node:timers/promises';
import { type Bus, type Intake, NoResponders, type Notice } from './bus.ts';

/** How long a start waits for a connection, in ms. The start of a consumer waits for the same time. */
const startMs = 15_000;

/**
 * Listens to notices, as `bus.listen` does, but tries again if there is no connection. So a short break does not end the start
 * of a process. Throws `NoResponders` if there is no connection for 15 s.
 */
export async function listenAtStart(
  bus: Bus,
  subject: string,
  hear: (notice: Notice) => void,
): Promise<Intake> {
  const until = performance.now() + startMs;
  for (;;) {
    try {
      return await bus.listen(subject, hear);
    } catch (error) {
      if (!(error instanceof NoResponders) || performance.now() > until) throw error;
      await wait(250);
    }
  }
}
