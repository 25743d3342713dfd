import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '@kith/base';
import { projectErasures } from '@kith/contracts';
import { ask, Sweeper } from '@kith/service';
import type { AppContext } from './app.ts';
import { eraseAccount } from './erase-account.ts';
import { KnownSince } from './known-since.ts';

const projectsAtOnce = 100;
const batch = 100;
const patienceMs = 5_000;

/** Erases deleted projects in the background, until nothing is left of them (docs/adr/0044). */
export function startProjectEraser(
  app: AppContext,
  { everyMs, settleMs, log }: { everyMs: number; settleMs: number; log: Logger },
): { stop(): Promise<void> } {
  let stopped = false;
  const known = new KnownSince();
  const isStopped = () => stopped;
  const sweeper = new Sweeper(() => eraseProjects(app, { settleMs, known, isStopped }), { everyMs, log });
  return {
    stop() {
      stopped = true;
      return sweeper.stop();
    },
  };
}

/** Continues the erasure of each deleted project. If a project cannot be erased, this does not delay the others. */
export async function eraseProjects(
  app: AppContext,
  {
    settleMs,
    known = new KnownSince(),
    isStopped = () => false,
  }: { settleMs: number; known?: KnownSince; isStopped?: () => boolean },
): Promise<void> {
  const failures: unknown[] = [];
  const deleting = await app.store.projects.deleting(projectsAtOnce);
  known.note(deleting.map(({ project }) => project.id));
  for (const { project } of deleting) {
    if (isStopped()) return;
    const isSettled = known.isFor(project.id, settleMs);
    await eraseProject(app, project.id, { isSettled, isStopped }).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} projects not erased yet`);
}

/**
 * Deletes the project's users in the same way as users delete their own accounts. Each deletion makes an event, and on this
 * event every service erases its data of the user. The project itself is removed only when three conditions are met. All
 * requests that had read the project before its deletion are over. The erasures of its users are finished. Every service
 * reports that it has no data of the project any more.
 */
async function eraseProject(
  app: AppContext,
  projectId: string,
  { isSettled, isStopped }: { isSettled: boolean; isStopped: () => boolean },
): Promise<void> {
  for (;;) {
    const users = await app.store.people.some(projectId, batch);
    if (users.length === 0) break;
    for (const { id: userId } of users) {
      if (isStopped()) return;
      await eraseAccount(app, { projectId, userId });
      await nextTurn();
    }
  }
  if (!isSettled || (await app.store.erasure.isUnder(projectId))) return;
  for (const operation of projectErasures) {
    const context = { requestId: 'identity-projects', deadline: Date.now() + patienceMs };
    if (!(await ask(app.bus, operation, { projectId }, context)).isDone) return;
  }
  await app.store.apiKeys.forget(projectId);
  await app.store.projects.forget(projectId, new Date());
}
