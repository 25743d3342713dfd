import { randomUUID } from 'node:crypto';
import { usersPage } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { openStore } from '../src/store/index.ts';
import { callInternal } from './support/call.ts';
import type { TestIdentity } from './support/identity.ts';
import { startForSuite } from './support/suite.ts';
import { makeUser } from './support/users.ts';

describe.each(handlerEngines())('pages of users on %s', (engine) => {
  let identity: TestIdentity;
  startForSuite(engine, (started) => {
    identity = started;
  });

  const walk = async (projectId: string) => {
    const ids: string[] = [];
    for (let after: string | null = `${projectId}|`; after?.startsWith(`${projectId}|`); ) {
      const page: { users: { user: { id: string; projectId: string } }[]; next: string | null } = JSON.parse(
        await callInternal(identity.bus, usersPage, { after }),
      );
      ids.push(...page.users.filter(({ user }) => user.projectId === projectId).map(({ user }) => user.id));
      after = page.next;
    }
    return ids;
  };

  test('contain each user once in total, even if profiles have the maximum length', async () => {
    const projectId = randomUUID();
    const store = await openStore(identity.store);
    const metadata = { text: 'x'.repeat(8_000) };
    const users = Array.from({ length: 620 }, () => makeUser({ projectId, metadata, seq: 0 }));
    const outcomes = await store.imports.add(projectId, users);
    await store.close();
    expect(new Set(outcomes)).toEqual(new Set(['stored']));
    expect(await walk(projectId)).toEqual(users.map(({ id }) => id).sort());
  });

  test('are empty for a project without users', async () => {
    expect(await walk('ffffffff-ffff-4fff-bfff-ffffffffffff')).toEqual([]);
  });
});
