import { setTimeout } from 'node:timers/promises';
import { internalSubject, projectErasures } from '@kith/contracts';
import { successReply } from '@kith/service';
import type { AppContext } from '../../src/app.ts';
import { finishErasures } from '../../src/erasure.ts';
import { eraseProjects } from '../../src/project-erasure.ts';

/**
 * Erases deleted projects completely, as sweeps do. Stand-ins for the other services answer that they have no data of the
 * project any more.
 */
export async function eraseToTheEnd(app: AppContext): Promise<void> {
  await using undo = new AsyncDisposableStack();
  for (const spec of projectErasures) {
    const answer = async () => successReply(200, { isDone: true }, {});
    const intake = await app.bus.serve(internalSubject(app.bus.prefix, spec), 'test', answer);
    undo.defer(() => intake.drain());
  }
  while ((await app.store.projects.deleting(1)).length > 0) {
    await eraseProjects(app, { settleMs: 0 });
    app.relay.kick();
    await finishErasures(app, 0);
    await setTimeout(10);
  }
}
