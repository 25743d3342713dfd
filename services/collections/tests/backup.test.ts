import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectionCreated } from '@kith/contracts';
import { DocumentsFile } from '@kith/store/backup';
import { ServiceCopy } from '@kith/store/mongo';
import { availableEngines, createStore } from '@kith/testing';
import { FindCursor } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import { collectionsBackup } from '../src/backup.ts';
import { type CollectionRecord, collectionEvent, newCollection } from '../src/collection.ts';
import { openStore } from '../src/store/index.ts';
import { placeOf } from '../src/store/place.ts';
import { countStored } from './support/raw.ts';
import { erase, makeBelow, purgeAll, save } from './support/store-acts.ts';

/** The file of a backup. Before a document is stored in this file, `onPut` is called. */
class WatchedFile extends DocumentsFile {
  onPut: (id: string) => void = () => undefined;
  override put(...args: Parameters<DocumentsFile['put']>): string | undefined {
    this.onPut(args[1].id);
    return super.put(...args);
  }
}

// Only MongoDB needs this test. The embedded form copies all its files in the state of one moment, so its copy cannot contain
// half of a deletion.
describe.runIf(availableEngines().includes('containers'))(
  'a copy of collections that change while it is made',
  () => {
    test('contains a deletion completely, even if the purge begins while the copy is made', async () => {
      await using place = await createStore('containers');
      const { config } = place;
      if (config.kind !== 'mongo') throw new Error('Not on MongoDB.');
      await using undo = new AsyncDisposableStack();
      const folder = await mkdtemp(join(tmpdir(), 'kith-copy-'));
      undo.defer(() => rm(folder, { recursive: true }));
      const store = undo.adopt(await openStore(config), (opened) => opened.close());
      const owner = { projectId: randomUUID(), userId: randomUUID() };
      // With these ids, the copy reads `top` before `below`.
      const makeWith = async (digit: string, parent: CollectionRecord | null) => {
        const made = newCollection(owner, { name: 'x', parent });
        const record = { ...made, id: `${digit}${made.id.slice(1)}` };
        expect(await store.insert(record, collectionEvent(collectionCreated, record))).toBe(true);
        return record;
      };
      const root = await makeWith('0', null);
      const top = await makeWith('f', root);
      const below = await makeBelow(store, owner, top.id);
      for (const entityId of ['one', 'two']) expect(await save(store, owner, below.id, entityId)).toBe(true);

      // The deletion of `top` begins when the copy has read `top` and `below`, but not yet the entities of `below`. The copy
      // waits until the purge has erased everything below `top`, except collections with unpublished events.
      const file = join(folder, 'collections.sqlite');
      const copying = new AsyncLocalStorage<boolean>();
      let deletion: Promise<void> | undefined;
      const toArray = FindCursor.prototype.toArray;
      const waiting = vi.spyOn(FindCursor.prototype, 'toArray').mockImplementation(async function (
        this: FindCursor,
      ) {
        if (copying.getStore()) await deletion;
        return toArray.call(this);
      });
      const deleteTop = async () => {
        await erase(store, owner, top.id);
        while (await store.purge());
      };
      {
        using copied = new WatchedFile(file, collectionsBackup.declared);
        copied.onPut = (id) => {
          if (id === placeOf(below)) deletion ??= copying.run(false, deleteTop);
        };
        const options = { hasArrived: () => false, givenUp: async () => [], atOnce: 1 };
        await using copy = await ServiceCopy.open(collectionsBackup, config, copied, options);
        await copying.run(true, () => copy.copy());
        copied.close();
      }
      waiting.mockRestore();
      expect(deletion).toBeDefined();
      expect((await countStored(config, owner)).entities).toBe(0);

      const restored = undo.adopt(await openStore({ kind: 'sqlite', file }), (opened) => opened.close());
      for (const { id } of [top, below]) expect(await restored.find(owner, id)).toBeNull();
      expect(await restored.root(owner)).toMatchObject({ id: root.id });
      const told = (await restored.outbox.unpublished(100)).map(({ event }) => event);
      expect(told.filter(({ aggregate }) => aggregate.id === top.id).map(({ type }) => type)).toEqual([
        'collection.created',
        'collection.deleted',
      ]);
      await purgeAll(restored);
      expect(await countStored({ kind: 'sqlite', file }, owner)).toEqual({ collections: 1, entities: 0 });
    });
  },
);
