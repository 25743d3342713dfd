import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ErasedUsers, erasedUserCollection, eraseProject } from '@kith/service';
import { openDocuments } from '@kith/store/open';
import { createStore } from '@kith/testing';
import { expect, test } from 'vitest';

test('the embedded form handles requests while the last documents of a project are removed', async () => {
  await using place = await createStore('embedded');
  const documents = await openDocuments(place.config, { collections: [erasedUserCollection] });
  await using _ = { [Symbol.asyncDispose]: () => documents.close() };
  const erased = new ErasedUsers(documents);
  const projectId = randomUUID();
  const users = Array.from({ length: 3_000 }, () => ({ projectId, userId: randomUUID() }));
  for (const user of users) await erased.mark(user, Date.now(), 60_000);
  let turns = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turns++) await nextTurn();
  })();
  expect(await eraseProject(documents, projectId, { awaited: [], cleared: [erasedUserCollection] })).toBe(
    true,
  );
  isDone = true;
  await counting;
  expect(turns).toBeGreaterThanOrEqual(3);
  expect(await erased.has(users[0]!)).toBe(false);
});
