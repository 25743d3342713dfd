import { setImmediate as nextTurn } from 'node:timers/promises';
import { collection } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { createStore } from '@kith/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const notes = collection<{ until: number }>({
  name: 'notes',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: z.int() }),
  expires: ({ until }) => until,
});

test('other work runs while many expired documents are deleted', async () => {
  await using place = await createStore('embedded');
  const documents = await openDocuments(place.config, { collections: [notes] });
  await using _ = { [Symbol.asyncDispose]: () => documents.close() };
  const many = Array.from({ length: 4_500 }, (_, at) => `${at}`);
  const copyOf = (id: string, until: number) => ({ id, doc: { until }, epoch: 0, version: 1 });
  await documents.keep(notes, [
    ...many.map((id) => copyOf(id, 1)),
    copyOf('stays', Date.now() + 24 * 3600 * 1000),
  ]);
  let turns = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turns++) await nextTurn();
  })();
  await documents.sweep();
  isDone = true;
  await counting;
  expect(turns).toBeGreaterThan(2);
  const left = await documents.range(notes, { above: '', below: '~', limit: 10 });
  expect(left.map(({ id }) => id)).toEqual(['stays']);
});
