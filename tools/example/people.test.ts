// Starts at most 1 platform and no process.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOperatorClient } from '@kith/client/operator';
import { dataFolder } from '@kith/platform';
import { startPlatform } from '@kith/testing';
import { expect, it } from 'vitest';
import { ensurePeople } from './people.ts';

it('keeps people until their project is deleted; says why some of them cannot sign in any more', async () => {
  await using platform = await startPlatform();
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'kith-people-'));
  const folder = dataFolder(temporary.path);
  const { url, operatorToken } = platform;
  const start = () => ensurePeople(folder, { url, operatorToken });
  const first = await start();
  expect([first.people.length, first.notices]).toEqual([6, []]);
  const { projectId } = first;

  const operator = createOperatorClient({ url, token: operatorToken });
  const { items } = await operator.projects.listUsers({ projectId, query: 'grace' });
  const userId = items[0]?.id ?? '';
  await operator.users.suspend({ projectId, userId });
  const kith = `KITH_DATA='${folder.path}' npx kith`;
  const notices = [
    `grace@example.com is not signed in: This account is suspended. To change that: ${kith} users restore ${userId} --project ${projectId}`,
    `To start over: ${kith} projects delete ${projectId} --yes, then start again.`,
  ];
  expect(await start()).toEqual({ ...first, notices });
  await operator.users.restore({ projectId, userId });
  expect(await start()).toEqual(first);

  await operator.projects.delete({ projectId });
  const second = await start();
  expect([second.projectId === projectId, second.people.length, second.notices]).toEqual([false, 6, []]);
});
