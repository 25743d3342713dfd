import { randomUUID } from 'node:crypto';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { placeOf } from '../src/listing.ts';
import type { IdentityStore } from '../src/store/index.ts';
import { makeProjectRow } from './support/projects.ts';
import { storeForEach } from './support/suite.ts';

describe.each(handlerEngines())('projects in the store on %s', (engine) => {
  let store: IdentityStore;

  const place = storeForEach(engine, (opened) => {
    store = opened;
  });

  test('are returned as they were stored, even after the store is opened again', async () => {
    const project = makeProjectRow();
    await store.projects.add(project);
    expect(await store.projects.find(project.id)).toEqual(project);
    expect(await store.projects.find(randomUUID())).toBeNull();
    await place.reopen();
    expect(await store.projects.find(project.id)).toEqual(project);
  });

  test('keep the settings that a change does not name', async () => {
    const project = makeProjectRow();
    await store.projects.add(project);
    const at = new Date('2026-03-01T00:00:00.000Z');
    const change = { publicKey: null, limits: {}, publicProfiles: 'all' as const };
    const after = { ...project, ...change, updatedAt: at };
    expect(await store.projects.update(project.id, change, at)).toEqual(after);
    expect(await store.projects.find(project.id)).toEqual(after);
    expect(await store.projects.update(randomUUID(), change, at)).toBeNull();
    const changes = [{ name: 'New' }, { webOrigins: [] }, { publicConnections: false }, { publicKey: 'key' }];
    await Promise.all(changes.map((one) => store.projects.update(project.id, one, at)));
    expect(await store.projects.find(project.id)).toEqual(Object.assign({}, after, ...changes));
  });

  test('are returned in pages, sorted by id, if they have settings for gateways', async () => {
    const plain = { limits: {}, webOrigins: [], publicProfiles: 'card' as const, publicConnections: true };
    const each = [
      { limits: { 'identity.sign-in': null } },
      { webOrigins: ['https://app.example.org'] },
      { publicProfiles: 'none' as const },
      { publicProfiles: 'all' as const },
      { publicConnections: false },
    ];
    const made = each.map((own) => makeProjectRow({ ...plain, ...own }));
    for (const project of [...made, makeProjectRow(plain)]) await store.projects.add(project);
    const sorted = made.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(await store.projects.withSettings('', 100)).toEqual(sorted);
    expect(await store.projects.withSettings(sorted[0]?.id ?? '', 2)).toEqual(sorted.slice(1, 3));
    expect(await store.projects.withSettings(sorted[4]?.id ?? '', 2)).toEqual([]);
    for (const { id } of made) await store.projects.update(id, plain, new Date());
    expect(await store.projects.withSettings('', 100)).toEqual([]);
  });

  test('are listed from any position, newest first, and by id if their times are the same', async () => {
    const projects = Array.from({ length: 7 }, (_, index) =>
      makeProjectRow({ createdAt: new Date(1_000_000_000_000 + Math.floor(index / 2) * 1_000) }),
    );
    for (const project of projects) await store.projects.add(project);
    const sorted = projects.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    expect(sorted[0]).toBe(projects[6]);
    const list = (from: { skip: number } | { after: string }, limit = 3) =>
      store.projects.list({ from, limit });
    expect(await list({ skip: 0 }, 100)).toEqual({ rows: sorted, total: 7 });
    expect(await list({ skip: 2 })).toEqual({ rows: sorted.slice(2, 5), total: 7 });
    expect(await list({ skip: 6 })).toEqual({ rows: sorted.slice(6), total: 7 });
    expect(await list({ skip: Number.MAX_SAFE_INTEGER })).toEqual({ rows: [], total: 7 });
    const after = placeOf(sorted[4] ?? makeProjectRow());
    expect(await list({ after })).toEqual({ rows: sorted.slice(5), total: 7 });
  });
});
