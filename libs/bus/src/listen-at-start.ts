import { setTimeout as wait } from 'node:timers/promises';
import { type Bus, type Intake, NoResponders, type Notice } from './bus.ts';

/** How long the start of a process waits for a connection, in ms. The start of a consumer waits equally long. */
const startMs = 15_000;

/**
 * Listens to notices, as `bus.listen` does, but tries again if there is no connection. So if the connection is interrupted for
 * a short time, the start of the process does not fail. Throws `NoResponders` if there is no connection for 15 s.
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
