import type { DocumentChange, Documents, IdRange, StoreConfig, Stored } from '@kith/store';
import { availableEngines, createStore } from '@kith/testing';
import { MongoClient, Collection as MongoCollection } from 'mongodb';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openMongoDocuments } from '../src/documents/mongo-documents.ts';
import { openDocuments } from '../src/documents/open-documents.ts';
import { type Box, box, boxes, declared, putInto, things, told, totals } from './documents-support/shelf.ts';

/** The change that makes a box in another box, with a thing in it. */
function inside(parent: string, id: string, parents = [parent]): DocumentChange<Box> {
  const set = box({ parents, things: 1 });
  return {
    ...{ in: boxes, target: id, set, below: { index: 'id', keys: parents } },
    rows: [{ in: things, id: `${id}|1`, put: { at: 1 } }],
    counters: [{ in: totals, id: 'ann', add: { boxes: 1 } }],
    events: [told(id, set)],
  };
}

async function readBox(documents: Documents, id: string): Promise<Stored<Box>> {
  const read = (await documents.get(boxes, [id])).get(id);
  if (!read) throw new Error(`${id} is not there.`);
  return read;
}

const thingsIn = ({ id }: { id: string }) => ({ above: `${id}|`, below: `${id}|~` });
const every = { above: '', below: '~', limit: 100 };

/** Deletes a box, then erases everything directly in it, as the service that owns a tree does. */
async function deleteAll(documents: Documents, id: string): Promise<void> {
  const top = await readBox(documents, id);
  expect(await documents.change([{ in: boxes, target: top, set: null }])).toEqual(['made']);
  for (;;) {
    await documents.outbox.unpublished(100);
    const some = await documents.remaining(boxes, 'parent', [id], 10);
    if (some.length === 0) return;
    for (let left: readonly IdRange[] = some.map(thingsIn); left.length > 0; )
      left = await documents.clearRows(things, left, 1);
    await documents.eraseAll(boxes, some);
  }
}

describe.each(availableEngines())('documents below a parent (%s)', (engine) => {
  let place: { config: StoreConfig } & AsyncDisposable;
  let documents: Documents;
  beforeEach(async () => {
    place = await createStore(engine);
    documents = await openDocuments(place.config, declared);
    await documents.change([{ in: boxes, target: 'top', set: box() }]);
  });
  afterEach(async () => {
    await documents.close();
    await place[Symbol.asyncDispose]();
  });
  const idsOf = (found: readonly Stored<unknown>[]) => found.map(({ id }) => id).sort();

  it('a search for several keys finds the documents of existing keys, and nothing for other keys', async () => {
    await documents.change([inside('top', 'a'), inside('top', 'b')]);
    const idsBy = async (index: string, keys: string[]) => {
      const found = [...(await documents.idsBy(boxes, index, keys))];
      return Object.fromEntries(found.map(([key, ids]) => [key, ids.sort()]));
    };
    expect(await idsBy('id', ['a', 'c', 'top'])).toEqual({ a: ['a'], top: ['top'] });
    expect(await idsBy('parent', ['top'])).toEqual({ top: ['a', 'b'] });
    expect(await idsBy('id', [])).toEqual({});
    await documents.change([{ in: boxes, target: await readBox(documents, 'a'), set: null }]);
    expect(await idsBy('id', ['a'])).toEqual({});
  });

  it('all documents with a key are found, even if they do not fit into one batch', async () => {
    const ids = Array.from({ length: 150 }, (_, at) => `box-${100 + at}`);
    await documents.change(ids.map((id) => inside('top', id)));
    const found = (await documents.by(boxes, 'parent', ['top'])).get('top') ?? [];
    expect(found.map(({ id }) => id)).toEqual(ids);
  });

  it('`remaining` returns the documents that are still below at least one of the given keys, up to a limit', async () => {
    const parents = ['top', 'other'];
    await documents.change([{ in: boxes, target: 'other', set: box() }]);
    await documents.change(['a', 'b', 'c'].map((id, at) => inside(parents[at % 2] ?? '', id)));
    const remaining = (keys: string[], limit: number) => documents.remaining(boxes, 'parent', keys, limit);
    expect(idsOf(await remaining(parents, 9))).toEqual(['a', 'b', 'c']);
    expect(await remaining(parents, 2)).toHaveLength(2);
    expect(idsOf(await remaining(['other', 'none'], 9))).toEqual(['b']);
    expect(await remaining([], 9)).toEqual([]);
  });

  it('unchanged documents and their rows are erased once the events of the documents were copied out', async () => {
    await documents.change([inside('top', 'a'), inside('top', 'b')]);
    const [a, b] = [await readBox(documents, 'a'), await readBox(documents, 'b')];
    await documents.change([putInto(b, 2), putInto(a, 2)]);
    await documents.outbox.unpublished(100);
    const now = await readBox(documents, 'b');
    const ranges = [a, b].map(thingsIn);
    const left = await documents.clearRows(things, ranges, 3);
    expect(left).toHaveLength(1);
    expect(idsOf(await documents.range(things, every))).toEqual(['b|1']);
    expect(await documents.clearRows(things, left, 3)).toEqual([]);
    expect(await documents.range(things, every)).toEqual([]);
    expect(await documents.eraseAll(boxes, [a, now])).toBe(1);
    expect(await documents.eraseAll(boxes, [])).toBe(0);
    expect(idsOf(await documents.range(boxes, every))).toEqual(['a', 'top']);
    // A box that is made again has rows again.
    expect(await documents.change([{ ...inside('top', 'b'), events: [] }])).toEqual(['made']);
    expect(idsOf(await documents.range(things, every))).toEqual(['b|1']);
    await expect(documents.clearRows(boxes, ranges, 1)).rejects.toThrow(TypeError);
  });

  it('documents are deleted with their parent, even if more of them are made at the same time', async () => {
    const other = await openDocuments(place.config, declared);
    try {
      const made = Array.from({ length: 24 }, async (_, at) => {
        if (at === 6) await deleteAll(documents, 'top');
        else await (at % 2 ? documents : other).change([inside('top', `box-${at}`)]);
      });
      await Promise.all(made);
      await documents.outbox.unpublished(100);
      expect([await documents.range(boxes, every), await documents.range(things, every)]).toEqual([[], []]);
    } finally {
      await other.close();
    }
  });
});

describe.runIf(availableEngines().includes('containers'))('documents below a parent on MongoDB', () => {
  const steps = ['announced', 'committed', 'rows', 'counters'] as const;
  const ends = new AsyncDisposableStack();
  let config: StoreConfig & { kind: 'mongo' };
  let documents: Documents;
  beforeEach(async () => {
    const place = ends.use(await createStore('containers'));
    if (place.config.kind !== 'mongo') throw new Error('There is no MongoDB.');
    config = place.config;
    documents = ends.adopt(await openDocuments(config, declared), (one) => one.close());
    await documents.change([{ in: boxes, target: 'top', set: box() }]);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => ends.disposeAsync());

  /** Opens the database as another process would. Does `what` only the first time that a change reaches the step `at`. */
  async function stoppedAt(at: string, what: () => void | Promise<void>): Promise<Documents> {
    let isDone = false;
    const onStep = async (step: string) => {
      if (step !== at || isDone) return;
      isDone = true;
      await what();
    };
    return ends.adopt(await openMongoDocuments({ ...config, ...declared, onStep }), (one) => one.close());
  }

  /** Ids of all documents that are stored in a collection, even those without content, but not those of deleted rows. */
  async function storedIn(name: string): Promise<unknown[]> {
    await using client = new MongoClient(config.url);
    const found = await client
      .db(config.database)
      .collection(name)
      .find({ gone: { $exists: false } })
      .toArray();
    return found.map(({ _id }) => _id).sort();
  }

  const makings = steps.flatMap((step) => [[step, ['late']] as const, [step, ['late', 'later']] as const]);

  it.each(makings)(
    'documents are deleted with their parent, even if the parent is deleted after the step %s of making %j',
    async (step, ids) => {
      const maker = await stoppedAt(step, () => deleteAll(documents, 'top'));
      const outcomes = await maker.change(ids.map((id) => inside('top', id)));
      expect(outcomes).toEqual(ids.map(() => (step === 'announced' ? 'orphan' : 'made')));
      expect([await storedIn('boxes'), await storedIn('things')]).toEqual([['top'], []]);
    },
  );

  it.each(makings)(
    'documents are deleted with their parent, even if a process died after the step %s of making %j',
    async (step, ids) => {
      const maker = await stoppedAt(step, () => {
        throw new Error('ended');
      });
      await expect(maker.change(ids.map((id) => inside('top', id)))).rejects.toThrow('ended');
      await deleteAll(documents, 'top');
      expect([await storedIn('boxes'), await storedIn('things')]).toEqual([['top'], []]);
    },
  );

  it('documents are deleted with their parent, even if they are made again after a deletion', async () => {
    await documents.change([inside('top', 'again')]);
    await documents.change([{ in: boxes, target: await readBox(documents, 'again'), set: null }]);
    const maker = await stoppedAt('announced', () => deleteAll(documents, 'top'));
    expect(await maker.change([{ ...inside('top', 'again'), events: [] }])).toEqual(['orphan']);
    expect((await documents.range(boxes, every)).map(({ id }) => id)).toEqual([]);
  });

  it.each(['before', 'after'])(
    'new documents are refused if their parent is deleted just %s their placeholder is made',
    async (when) => {
      const { insertMany } = MongoCollection.prototype;
      vi.spyOn(MongoCollection.prototype, 'insertMany').mockImplementationOnce(async function (
        this: InstanceType<typeof MongoCollection>,
        ...args
      ) {
        if (when === 'before') await deleteAll(documents, 'top');
        const inserted = await insertMany.apply(this, args);
        if (when === 'after') await deleteAll(documents, 'top');
        return inserted;
      });
      expect(await documents.change([inside('top', 'late')])).toEqual(['orphan']);
      expect(await storedIn('boxes')).toEqual(['top']);
    },
  );

  it('a delayed writer does not bring back the rows of erased documents', async () => {
    const { replaceOne } = MongoCollection.prototype;
    vi.spyOn(MongoCollection.prototype, 'replaceOne').mockImplementationOnce(async function (
      this: InstanceType<typeof MongoCollection>,
      ...args
    ) {
      await deleteAll(documents, 'top');
      return replaceOne.apply(this, args);
    });
    expect(await documents.change([inside('top', 'late')])).toEqual(['made']);
    expect(await storedIn('things')).toEqual([]);
  });

  it('documents are not erased before their events were copied out', async () => {
    await documents.change([inside('top', 'a')]);
    const read = await readBox(documents, 'a');
    expect(await documents.eraseAll(boxes, [read])).toBe(0);
    await documents.outbox.unpublished(100);
    expect(await documents.eraseAll(boxes, [read])).toBe(1);
  });

  // A removed row keeps its document for a while. If each call began at the start, it would read all these documents again.
  it('`clearRows` returns a range that begins behind the rows that it has removed', async () => {
    await documents.change([inside('top', 'a'), inside('top', 'b')]);
    const [a, b] = [await readBox(documents, 'a'), await readBox(documents, 'b')];
    await documents.change([putInto(a, 2), putInto(b, 2)]);
    const ranges = [a, b].map(thingsIn);
    const rest = await documents.clearRows(things, ranges, 1);
    expect(rest).toEqual([{ above: 'a|00000002', below: 'a|~' }, ranges[1]]);
    expect(await documents.clearRows(things, rest, 2)).toEqual([{ above: 'b|00000002', below: 'b|~' }]);
    expect((await documents.range(things, every)).map(({ id }) => id)).toEqual(['b|1']);
  });

  it('a refused document leaves no placeholder behind', async () => {
    await documents.change([{ in: boxes, target: 'one', set: box({ label: 'One' }) }]);
    const taken = { in: boxes, target: 'two', set: box({ label: 'One' }) };
    expect(await documents.change([inside('none', 'a'), taken])).toEqual(['orphan', { taken: 'label' }]);
    expect(await storedIn('boxes')).toEqual(['one', 'top']);
  });

  it('placeholders of a dead process are swept, but not by a machine whose clock is an hour ahead', async () => {
    const maker = await stoppedAt('announced', () => {
      throw new Error('ended');
    });
    await expect(maker.change([inside('top', 'late')])).rejects.toThrow('ended');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60 * 60_000 });
    await documents.sweep();
    expect(await storedIn('boxes')).toEqual(['late', 'top']);
    vi.setSystemTime(Date.now() + 11 * 60_000);
    await documents.sweep();
    expect(await storedIn('boxes')).toEqual(['top']);
  });

  it.each(['one', 'all'])(
    'after `settle` of %s of the targets, reads show what follows from their changes',
    async (which) => {
      const maker = await stoppedAt('committed', () => {
        throw new Error('ended');
      });
      await expect(maker.change([inside('top', 'a')])).rejects.toThrow('ended');
      expect(await documents.range(things, every)).toEqual([]);
      await documents.settle(
        boxes,
        which === 'one' ? await readBox(documents, 'a') : { above: '', below: '~' },
      );
      expect((await documents.range(things, every)).map(({ id }) => id)).toEqual(['a|1']);
    },
  );
});
