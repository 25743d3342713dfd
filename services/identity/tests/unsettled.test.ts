import { userCreated } from '@kith/contracts';
import { availableEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { holdRow } from '../../../tests/support/hold-row.ts';
import type { AppContext } from '../src/app.ts';
import type { User } from '../src/store/index.ts';
import { endSuspensions, suspend } from '../src/suspension.ts';
import { userDeletedEvent, userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { makeProjectRow } from './support/projects.ts';
import { makeUser } from './support/users.ts';

// These tests run only on MongoDB, because the embedded form makes each change in one step.
describe.runIf(availableEngines().includes('containers'))('a change that is not settled yet', () => {
  const setUp = async (undo: AsyncDisposableStack): Promise<{ app: AppContext; user: User }> => {
    const app = await makeApp('containers', undo);
    const user = makeUser();
    await app.store.users.add(user, userEvent(userCreated, user));
    return { app, user };
  };

  test('a suspension is extended although its end is already being handled', async () => {
    await using undo = new AsyncDisposableStack();
    const { app, user } = await setUp(undo);
    const whose = { projectId: user.projectId, userId: user.id };
    await suspend(app, whose, { until: new Date(Date.now() - 1_000), reason: 'for a while' });
    const { held, release } = holdRow('suspensions');
    const extending = suspend(app, whose, { until: null, reason: 'for good' });
    await held;
    await endSuspensions(app).finally(release);
    await extending;
    const stored = await app.store.users.find(user.projectId, user.id);
    expect(stored?.isActive).toBe(false);
    const said = await app.store.accounts.suspensions(stored ? [stored] : []);
    expect(said.get(user.id)).toEqual({ until: null, reason: 'for good' });
  });

  test('a deleted user leaves no mail', async () => {
    await using undo = new AsyncDisposableStack();
    const { app, user } = await setUp(undo);
    const { held, release } = holdRow('mailings');
    const adding = app.store.mailings.add(user, { kind: 'passwordReset', address: 'ada@example.org' });
    await held;
    const removing = app.store.erasure.remove(user, userDeletedEvent(user, new Date())).finally(release);
    expect(await removing).toBe('stored');
    await adding;
    expect(await app.store.mailings.of(user)).toEqual([]);
  });

  test('a user who was just deleted counts as an unfinished erasure of the project', async () => {
    await using undo = new AsyncDisposableStack();
    const { app, user } = await setUp(undo);
    const { held, release } = holdRow('deletedUsers');
    const removing = app.store.erasure.remove(user, userDeletedEvent(user, new Date()));
    await held;
    expect(await app.store.erasure.isUnder(user.projectId).finally(release)).toBe(true);
    expect(await removing).toBe('stored');
  });

  test('a project that was just deleted is shown as being deleted', async () => {
    await using undo = new AsyncDisposableStack();
    const { app } = await setUp(undo);
    const project = makeProjectRow();
    await app.store.projects.add(project);
    const { held, release } = holdRow('deletingProjects');
    const removing = app.store.projects.remove(project.id, new Date());
    await held;
    const found = await app.store.projects.findDeleting(project.id).finally(release);
    expect(found?.project.name).toBe(project.name);
    expect(await removing).toBe(true);
  });
});
