// Quick counterpart: tests/project-deletion.test.ts
// Starts no platform and at most 400 processes.
import { userCreated } from '@kith/contracts';
import { availableEngines, createStore, dieBeforeEachWrite, runUntilDeath } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { eraseToTheEnd } from './support/erase-projects.ts';
import { makeProjectRow } from './support/projects.ts';
import { dumpStore } from './support/raw-store.ts';
import { makeUser } from './support/users.ts';

const eraser = new URL('./support/dying-eraser.ts', import.meta.url);

describe.each(availableEngines())('the erasure of a project by processes that die (%s)', (engine) => {
  test('is finished by the next process after a process has died at any of its writes', {
    timeout: 600_000,
  }, async () => {
    const deaths = await dieBeforeEachWrite(async (number) => {
      await using place = await createStore(engine);
      await using undo = new AsyncDisposableStack();
      const app = await makeApp('embedded', undo, place.config);
      const { store } = app;
      const project = makeProjectRow({ name: 'zqproject' });
      const { id: projectId } = project;
      await store.projects.add(project);
      for (const name of ['zqname one', 'zqname two']) {
        const user = makeUser({ projectId, name });
        await store.users.add(user, userEvent(userCreated, user));
      }
      expect(await store.projects.remove(projectId, new Date())).toBe(true);
      expect(await store.projects.remove(projectId, new Date())).toBe(false);
      expect(await store.projects.find(projectId)).toBeNull();

      const death = await runUntilDeath(eraser, { store: place.config, number });
      expect(await store.projects.deletedAfter('', 10)).toEqual([projectId]);
      await eraseToTheEnd(app);
      expect(await store.projects.deletedAfter('', 10)).toEqual([projectId]);
      expect(await store.projects.findDeleting(projectId)).toBeNull();
      expect(await store.people.some(projectId, 10)).toEqual([]);
      const held = JSON.stringify(await dumpStore(place.config));
      for (const word of ['zqproject', 'zqname']) expect(held).not.toContain(word);
      return death;
    });
    expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
    expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
    expect(deaths.length).toBeGreaterThan(8);
  });
});
