// Starts no platform and at most 6 processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { StartError } from '@kith/base';
import { type Collection, collection, type Documents, type StoreConfig, type Stored } from '@kith/store';
import { availableEngines, createStore, watchReads } from '@kith/testing';
import { MongoClient, Collection as MongoCollection } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openMongoDocuments } from '../src/documents/mongo-documents.ts';
import { openDocuments } from '../src/documents/open-documents.ts';
import {
  type Box,
  box,
  boxes,
  declared,
  owners,
  putInto,
  things,
  told,
  totals,
} from './documents-support/shelf.ts';

describe.each(availableEngines())('documents (%s)', (engine) => {
  let place: { config: StoreConfig } & AsyncDisposable;
  let documents: Documents;
  beforeEach(async () => {
    place = await createStore(engine);
    documents = await openDocuments(place.config, declared);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await documents.close();
    await place[Symbol.asyncDispose]();
  });

  const add = async (id: string, changes?: Partial<Box>): Promise<Stored<Box>> => {
    expect(await documents.change([{ in: boxes, target: id, set: box(changes) }])).toEqual(['made']);
    return one(id);
  };
  const one = async (id: string): Promise<Stored<Box>> => {
    const read = (await documents.get(boxes, [id])).get(id);
    if (!read) throw new Error(`${id} is not there.`);
    return read;
  };
  const idsOf = (found: readonly Stored<unknown>[]) => found.map(({ id }) => id);
  /** The things, totals and events that are stored for the boxes. */
  const following = async () => ({
    things: idsOf(await documents.range(things, { above: '', below: '~', limit: 100 })),
    totals: (await documents.sums(totals, ['ann'])).get('ann'),
    events: (await documents.outbox.unpublished(100)).length,
  });

  describe('reads', () => {
    it('find existing documents by id', async () => {
      await add('one', { label: 'One' });
      const found = await documents.get(boxes, ['one', 'two']);
      expect([...found]).toEqual([
        ['one', expect.objectContaining({ id: 'one', doc: box({ label: 'One' }) })],
      ]);
    });

    it('can return only the search texts, by id', async () => {
      await add('one', { label: 'One' });
      await add('two');
      const found = await documents.texts(boxes, ['one', 'two', 'three'], ['label']);
      expect([...found].map(([id, { label }]) => [id, label])).toEqual([
        ['one', 'one'],
        ['two', ''],
      ]);
      expect((await documents.texts(boxes, [], ['label'])).size).toBe(0);
      await expect(documents.texts(boxes, ['one'], ['owner'])).rejects.toThrow(TypeError);
    });

    it('find documents by a key, but not documents without a key', async () => {
      await add('one', { label: 'One' });
      await add('two');
      const found = await documents.by(boxes, 'label', ['ann|One', 'ann|', 'bob|One']);
      expect([...found.keys()]).toEqual(['ann|One']);
      expect(idsOf(found.get('ann|One') ?? [])).toEqual(['one']);
    });

    it('return a range in both directions, and can skip or exclude documents', async () => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await add(id);
      const range = async (how: object) =>
        idsOf(await documents.range(boxes, { above: 'a', below: 'e', limit: 9, ...how }));
      expect(await range({})).toEqual(['b', 'c', 'd']);
      expect(await range({ backwards: true, limit: 2 })).toEqual(['d', 'c']);
      expect(await range({ skip: 1 })).toEqual(['c', 'd']);
      expect(await range({ except: ['b'], skip: 1 })).toEqual(['d']);
      const counted = { above: 'a', below: 'e', except: ['c'] };
      expect(await documents.count(boxes, counted)).toBe(2);
      const atMost = (limit: number) => documents.count(boxes, { ...counted, limit });
      expect(await Promise.all([1, 2, 3].map(atMost))).toEqual([1, 2, 2]);
      const owned = { above: 'ann|', below: 'ann|~', limit: 2 };
      expect(idsOf(await documents.range(boxes, owned, 'owner'))).toEqual(['a', 'b']);
    });

    it('return a page with its total, which does not count excluded documents', async () => {
      let read = await add('one');
      for (const at of [1, 2, 3]) {
        await documents.change([putInto(read, at)]);
        read = await one('one');
      }
      const total = { in: totals, id: 'ann', field: 'things' };
      const page = (how: object) =>
        documents.page(things, { above: 'one|', below: 'one|~', limit: 2, ...how }, total);
      const { rows, total: counted } = await page({});
      expect([rows.map(({ doc }) => doc.at), counted]).toEqual([[1, 2], 3]);
      expect(await page({ skip: 3 })).toEqual({ rows: [], total: 3 });
      expect((await page({ except: ['one|00000001'] })).total).toBe(2);
    });

    it('find documents by a text in them', async () => {
      for (const [id, label] of Object.entries({ a: 'Green tea', b: 'Tea 100%', c: 'Coffee' }))
        await add(id, { label });
      const search = async (text: string, how: object = {}) => {
        const range = { above: '', below: '~', limit: 1 };
        const { found, total } = await documents.search(boxes, range, { text, fields: ['label'], ...how });
        return [idsOf(found), total];
      };
      expect(await search('tea')).toEqual([['a'], 2]);
      expect(await search('tea', { starts: true })).toEqual([['b'], 1]);
      expect(await search('%')).toEqual([['b'], 1]);
      expect(await search('milk')).toEqual([[], 0]);
      expect(await search('tea\0')).toEqual([[], 0]);
      expect(await search('e', { after: 'a' })).toEqual([['b'], 3]);
      expect(await search('e', { after: 'c' })).toEqual([[], 3]);
      expect(await search('e', { uncounted: true })).toEqual([['a'], 1]);
    });

    it('find documents by a text, and look into only a few documents at once', async () => {
      const labels = ['tea', 'milk', 'milk', 'milk', 'tea', 'tea', 'milk'];
      for (const [at, label] of labels.entries()) await add(`id ${at}`, { label: `${label} ${at}` });
      const walk = async (text: string, limit: number) => {
        const steps: string[][] = [];
        const how = { text, fields: ['label'], index: 'owner', uncounted: true, atOnce: 2 } as const;
        for (let after = 'ann|'; ; ) {
          const range = { above: 'ann|', below: 'ann|~', limit };
          const { found, next } = await documents.search(boxes, range, { ...how, after });
          steps.push(idsOf(found));
          const end = found.length === limit ? `ann|${found.at(-1)?.id}` : next;
          if (end === undefined) return steps;
          after = end;
        }
      };
      // Only a search that would block the process stops early.
      const isBlocking = engine === 'embedded';
      const all = ['id 0', 'id 4', 'id 5'];
      expect(await walk('tea', 9)).toEqual(isBlocking ? [['id 0'], [], ['id 4', 'id 5'], []] : [all]);
      expect(await walk('tea', 2)).toEqual(
        isBlocking ? [['id 0'], [], ['id 4', 'id 5'], []] : [['id 0', 'id 4'], ['id 5']],
      );
      for (const limit of [1, 2, 3]) expect((await walk('tea', limit)).flat()).toEqual(all);
      expect(await walk('coffee', 9)).toEqual(isBlocking ? [[], [], [], []] : [[]]);
    });
  });

  describe('changes', () => {
    it('a change is made only if its document has not changed since it was read', async () => {
      const read = await add('one');
      const set = box({ label: 'Other' });
      expect(await documents.change([{ in: boxes, target: 'one', set }])).toEqual(['there']);
      expect(await documents.change([{ in: boxes, target: read, set }])).toEqual(['made']);
      expect(await documents.change([{ in: boxes, target: read, set: box() }])).toEqual(['changed']);
      expect(await documents.change([{ in: boxes, target: read, set: null }])).toEqual(['changed']);
      expect((await one('one')).doc.label).toBe('Other');
      expect(await documents.change([{ in: boxes, target: await one('one'), set: null }])).toEqual(['made']);
      expect((await documents.get(boxes, ['one'])).size).toBe(0);
    });

    it('a change is refused if its document was deleted and made again after it was read', async () => {
      const read = await add('one');
      await documents.change([{ in: boxes, target: read, set: null }]);
      await add('one');
      expect(await documents.change([{ in: boxes, target: read, set: box() }])).toEqual(['changed']);
    });

    it('a change is stored with everything that follows from it, or not at all', async () => {
      const read = await add('one');
      expect(await documents.change([putInto(read, 1)])).toEqual(['made']);
      const after = { things: ['one|00000001'], totals: { boxes: 0, things: 1 }, events: 1 };
      expect(await following()).toEqual(after);
      expect(await documents.change([putInto(read, 2)])).toEqual(['changed']);
      expect(await following()).toEqual(after);
      const taken = [{ in: things, id: 'one|00000001', put: null }];
      await documents.change([{ in: boxes, target: await one('one'), set: box(), rows: taken }]);
      expect((await following()).things).toEqual([]);
    });

    it('a change that does not fit the schema of its collection is rejected, and stores nothing', async () => {
      const read = await add('one');
      const wrong = { ...putInto(read, 1), set: { ...box(), things: -1 } };
      await expect(documents.change([wrong])).rejects.toThrow();
      const row = { ...putInto(read, 1), rows: [{ in: things, id: 'x', put: { at: 'now' } }] };
      await expect(documents.change([row])).rejects.toThrow();
      expect(await following()).toEqual({ things: [], totals: { boxes: 0, things: 0 }, events: 0 });
      expect(await one('one')).toEqual(read);
    });

    it('a change that needs a taken unique key is refused with the name of the index', async () => {
      const first = await add('one', { label: 'One' });
      expect(await documents.change([{ in: boxes, target: 'two', set: box({ label: 'One' }) }])).toEqual([
        { taken: 'label' },
      ]);
      await add('two', { label: 'One', owner: 'bob' });
      expect(
        await documents.change([{ in: boxes, target: first, set: box({ label: 'One', seq: 2 }) }]),
      ).toEqual(['made']);
      await documents.change([{ in: boxes, target: await one('one'), set: box({ label: 'Else' }) }]);
      await add('three', { label: 'One' });
    });

    it('a change that needs other documents is refused until all of these exist', async () => {
      await add('top');
      const below = { index: 'id', keys: ['top', 'middle'] };
      const inner = { in: boxes, target: 'inner', set: box({ parents: ['top', 'middle'] }), below };
      expect(await documents.change([inner])).toEqual(['orphan']);
      await add('middle');
      expect(await documents.change([inner])).toEqual(['made']);
    });

    it('if changes race for a key or a document, one change succeeds, and the others can be tried again', async () => {
      const other = await openDocuments(place.config, declared);
      const both = [documents, other];
      try {
        const made = await Promise.all(
          both.flatMap((by, at) =>
            ['a', 'b', 'c'].map((name) =>
              by.change([{ in: boxes, target: `${name}${at}`, set: box({ label: 'One' }) }]),
            ),
          ),
        );
        const outcomes = made.map(([outcome]) => outcome);
        expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome !== 'made')).toEqual(Array(5).fill({ taken: 'label' }));

        await add('one');
        const puts = async (by: Documents, from: number) => {
          for (let at = from; at < from + 5; ) {
            const read = (await by.get(boxes, ['one'])).get('one') as Stored<Box>;
            const [outcome] = await by.change([putInto(read, at)]);
            if (outcome === 'made') at++;
          }
        };
        await Promise.all(both.map((by, at) => puts(by, 10 * at)));
        expect((await one('one')).doc.things).toBe(10);
        expect(await following()).toMatchObject({ totals: { things: 10 }, events: 10 });
      } finally {
        await other.close();
      }
    });

    it('the changes of one call are made independently, in their order', async () => {
      const made = { in: boxes, target: 'one', set: box({ label: 'One' }) };
      const outcomes = await documents.change([
        made,
        made,
        { in: boxes, target: 'two', set: box({ label: 'One' }) },
        { in: boxes, target: 'three', set: box() },
      ]);
      expect(outcomes).toEqual(['made', 'there', { taken: 'label' }, 'made']);
      expect((await documents.get(boxes, ['one', 'two', 'three'])).size).toBe(2);
    });

    it('the changes of one call have the same outcomes as if each was made alone after the previous one', async () => {
      const [first, second, third] = [
        await add('one'),
        await add('two', { label: 'Two' }),
        await add('three'),
      ];
      await documents.change([putInto(second, 1)]);
      const emptied = await one('two');
      const seventh = box({ label: 'Seven' });
      const outcomes = await documents.change([
        putInto(first, 1),
        putInto(third, 1),
        putInto(second, 2),
        { in: boxes, target: 'four', set: box({ label: 'Two' }) },
        { in: boxes, target: 'one', set: box() },
        { in: boxes, target: 'five', set: box(), below: { index: 'id', keys: ['one', 'nowhere'] } },
        { in: boxes, target: 'six', set: box(), below: { index: 'id', keys: ['seven'] } },
        {
          ...{ in: boxes, target: 'seven', set: seventh, events: [told('seven', seventh)] },
          counters: [{ in: totals, id: 'ann', add: { boxes: 1 } }],
        },
        { in: boxes, target: 'eight', set: box(), below: { index: 'id', keys: ['seven'] } },
        { in: boxes, target: 'nine', set: box(), below: { index: 'id', keys: ['seven'] } },
        {
          ...{ in: boxes, target: emptied, set: null, rows: [{ in: things, id: 'two|00000001', put: null }] },
          counters: [{ in: totals, id: 'ann', add: { things: -1 } }],
        },
        { in: boxes, target: 'ten', set: box({ label: 'Two' }) },
      ]);
      expect(outcomes).toEqual([
        ...['made', 'made', 'changed', { taken: 'label' }, 'there', 'orphan', 'orphan'],
        ...['made', 'made', 'made', 'made', 'made'],
      ]);
      const all = await documents.range(boxes, { above: '', below: '~', limit: 100 });
      expect(idsOf(all)).toEqual(['eight', 'nine', 'one', 'seven', 'ten', 'three'].sort());
      expect(await following()).toEqual({
        things: ['one|00000001', 'three|00000001'],
        totals: { boxes: 1, things: 2 },
        events: 4,
      });
    });

    it('if two calls race with the same keys and ids, each change is made by exactly one call', async () => {
      const other = await openDocuments(place.config, declared);
      try {
        const names = Array.from({ length: 12 }, (_, at) => `name${at}`);
        const count = { in: totals, id: 'ann', add: { boxes: 1 } };
        const labelled = (by: string) =>
          names.map((label) => ({
            ...{ in: boxes, target: `${by} ${label}`, set: box({ label }), counters: [count] },
          }));
        const [mine, theirs] = await Promise.all([
          documents.change(labelled('a')),
          other.change(labelled('b').reverse()),
        ]);
        const told = names.map((_, at) => [mine[at], theirs.at(-1 - at)]);
        for (const pair of told) expect(pair).toContain('made');
        for (const pair of told) expect(pair).toContainEqual({ taken: 'label' });
        const named = () => names.map((name) => ({ in: boxes, target: name, set: box(), counters: [count] }));
        const made = await Promise.all([documents.change(named()), other.change(named().reverse())]);
        expect(made.flat().sort()).toEqual([...names.map(() => 'made'), ...names.map(() => 'there')]);
        expect((await following()).totals).toEqual({ boxes: 24, things: 0 });
      } finally {
        await other.close();
      }
    }, 60_000);

    it('a document of an older version is upgraded when it is read, and can then be changed', async () => {
      const older = collection<{ title: string }>({
        ...{ name: 'notes', kind: 'target', version: 1, schema: z.object({ title: z.string() }) },
      });
      const newer: Collection<{ name: string }> = collection({
        ...{ name: 'notes', kind: 'target', version: 2, schema: z.object({ name: z.string() }) },
        upgrade: (old: unknown) => ({ name: (old as { title: string }).title }),
      });
      await using own = await createStore(engine);
      const before = await openDocuments(own.config, { collections: [older] });
      await before.change([{ in: older, target: 'n', set: { title: 'Old' } }]);
      const after = await openDocuments(own.config, { collections: [newer] });
      const read = (await after.get(newer, ['n'])).get('n');
      expect(read?.doc).toEqual({ name: 'Old' });
      if (read) await after.change([{ in: newer, target: read, set: { name: 'New' } }]);
      expect((await after.get(newer, ['n'])).get('n')?.doc).toEqual({ name: 'New' });
      await after.close();
      await expect(before.get(older, ['n'])).rejects.toThrow(/newer version/);
      await before.close();
      const behind = openDocuments(own.config, { collections: [older] });
      await expect(behind).rejects.toThrow(StartError);
      await expect(behind).rejects.toThrow(/was written by a newer version of Kith \(notes shape 2\)/);
      const other = { ...newer, indexes: { name: { key: ({ name }: { name: string }) => name } } };
      await expect(openDocuments(own.config, { collections: [other] })).rejects.toThrow(
        /notes has a layout that this version cannot read/,
      );
      const more = await openDocuments(own.config, { collections: [newer, things] });
      expect((await more.get(newer, ['n'])).size).toBe(1);
      await more.close();
    });
  });

  describe('fields that only a newer version knows', () => {
    const schema = z.object({ text: z.string(), note: z.string().optional() });
    const older = collection({ name: 'notes', kind: 'target', version: 1, schema });
    const newer = collection({ ...older, schema: schema.extend({ colour: z.string() }) });
    let some: Documents;
    beforeEach(async () => {
      await documents.close();
      const ahead = await openDocuments(place.config, { ...declared, collections: [newer] });
      const set = { text: 'Old', note: 'Soon', colour: 'red' };
      await ahead.change(['one', 'two'].map((id) => ({ in: newer, target: id, set })));
      await ahead.close();
      some = await openDocuments(place.config, { ...declared, collections: [older] });
    });
    afterEach(() => some.close());
    const read = async (id: string) => {
      const stored = (await some.get(older, [id])).get(id);
      if (!stored) throw new Error(`${id} is not there.`);
      return stored;
    };

    it('stay when an older version changes the document', async () => {
      const targets = [await read('one'), await read('two')];
      const changes = targets.map((target) => ({ in: older, target, set: { text: 'New' } }));
      expect(await some.change(changes)).toEqual(['made', 'made']);
      expect((await read('one')).doc).toEqual({ text: 'New', colour: 'red' });
      const spread = { ...(await read('two')).doc, note: 'Late' };
      await some.change([{ in: older, target: await read('two'), set: spread }]);
      expect((await read('two')).doc).toEqual({ text: 'New', note: 'Late', colour: 'red' });
    });

    it('are lost by a deletion, and by a change that erases', async () => {
      const emptied = { ...(await read('one')).doc, text: '' };
      await some.change([{ in: older, target: await read('one'), set: emptied, erases: true }]);
      expect((await read('one')).doc).toEqual({ text: '', note: 'Soon' });
      await some.change([{ in: older, target: await read('two'), set: null }]);
      const again = { text: 'Again', colour: 'blue' };
      await some.change([{ in: older, target: 'two', set: again }]);
      expect((await read('two')).doc).toEqual({ text: 'Again' });
    });
  });

  it('new documents without rows or counters are made together, but independently', async () => {
    await add('there', { label: 'Taken' });
    const made = (id: string, label = '') => ({ in: boxes, target: id, set: box({ label }) });
    const withEvent = { ...made('told'), events: [told('told', box())] };
    const changes = [
      made('a'),
      made('there'),
      made('b', 'Taken'),
      withEvent,
      made('c', 'C'),
      made('d', 'C'),
      made('a'),
    ];
    const outcomes = await documents.change(changes);
    const taken = { taken: 'label' };
    expect(outcomes).toEqual(['made', 'there', taken, 'made', 'made', taken, 'there']);
    const range = { above: '', below: '~', limit: 100 };
    expect(idsOf(await documents.range(boxes, range))).toEqual(['a', 'c', 'there', 'told']);
    expect(await documents.outbox.unpublished(10)).toHaveLength(1);
    expect(
      await documents.change([{ in: boxes, target: await one('a'), set: null }, made('a', 'New')]),
    ).toEqual(['made', 'made']);
    expect((await one('a')).doc.label).toBe('New');
  });

  it('a dated collection keeps the time of each document’s change, by the database’s clock', async () => {
    const notes = collection<{ text: string }>({
      ...{ name: 'notes', kind: 'target', version: 1, schema: z.object({ text: z.string() }), dated: true },
    });
    await using own = await createStore(engine);
    const some = await openDocuments(own.config, { collections: [notes] });
    try {
      const read = async () => (await some.get(notes, ['n'])).get('n') as Stored<{ text: string }>;
      const change = async (target: Stored<{ text: string }> | string, text: string | null) =>
        expect(await some.change([{ in: notes, target, set: text === null ? null : { text } }])).toEqual([
          'made',
        ]);
      await change('n', 'made');
      const first = await read();
      expect(await some.changedWithin(notes, first, 60_000)).toBe(false);
      // The clock of this process must not matter. The embedded form is an exception, because it has no other clock.
      if (engine !== 'embedded') vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
      await change(first, 'changed');
      const second = await read();
      expect(await some.changedWithin(notes, second, 60_000)).toBe(true);
      expect(await some.changedWithin(notes, second, -60_000)).toBe(false);
      expect(await some.changedWithin(notes, first, 60_000)).toBe(false);
      await change(second, null);
      await change('n', 'made again');
      expect(await some.changedWithin(notes, await read(), 60_000)).toBe(false);
    } finally {
      await some.close();
    }
  });

  it('the documents of a silent collection have no events', async () => {
    const silent = collection({
      ...{ name: 'silent', kind: 'target', version: 1, schema: z.object({}), silent: true },
    });
    await using own = await createStore(engine);
    const some = await openDocuments(own.config, { collections: [silent, boxes] });
    try {
      const change = { in: silent, target: 'one', set: {} };
      const events = [told('one', box())];
      await expect(some.change([{ ...change, events }])).rejects.toThrow(TypeError);
      expect((await some.get(silent, ['one'])).size).toBe(0);
      await some.change([change, { in: boxes, target: 'one', set: box(), events }]);
      expect(await some.outbox.unpublished(10)).toHaveLength(1);
    } finally {
      await some.close();
    }
  });

  it('documents are deleted when they expire, but their events stay', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const set = box({ endsAt: 2_000 });
    await documents.change([{ in: boxes, target: 'one', set, events: [told('one', set)] }]);
    await add('two');
    await documents.sweep();
    expect((await documents.get(boxes, ['one', 'two'])).size).toBe(2);
    vi.setSystemTime(2_001);
    // On MongoDB, a document does not expire as long as it holds events. This call copies them out of the document.
    expect(await documents.outbox.unpublished(10)).toHaveLength(1);
    await documents.sweep();
    expect([...(await documents.get(boxes, ['one', 'two'])).keys()]).toEqual(['two']);
    expect(await documents.outbox.unpublished(10)).toHaveLength(1);
  });

  it('a copy is replaced only by a newer version, and a mark is never replaced', async () => {
    const name = async () => (await documents.get(owners, ['ann'])).get('ann')?.doc.name;
    const keep = (doc: string, epoch: number, version: number | 'mark') =>
      documents.keep(owners, [{ id: 'ann', doc: { name: doc }, epoch, version }]);
    await keep('second', 0, 2);
    await keep('first', 0, 1);
    expect(await name()).toBe('second');
    await keep('restored', 1, 1);
    await keep('late', 0, 9);
    expect(await name()).toBe('restored');
    await keep('', 0, 'mark');
    await keep('back', 2, 1);
    expect(await name()).toBe('');
  });

  it('rows and counters are cleared up to a limit per call', async () => {
    const read = await add('one');
    await documents.change([putInto(read, 1)]);
    await documents.change([putInto(await one('one'), 2)]);
    const all = { above: 'one|', below: 'one|~', limit: 1 };
    expect([await documents.clear(things, all), await documents.clear(things, all)]).toEqual([1, 1]);
    expect(await documents.clear(things, all)).toBe(0);
    expect(await documents.clear(totals, { above: '', below: '~', limit: 9 })).toBe(1);
    expect((await following()).totals).toEqual({ boxes: 0, things: 0 });
  });

  it('the events of a document are found in a range as soon as its change is made', async () => {
    const { outbox } = documents;
    const read = await add('one');
    const range = { from: 'p|box|one|', to: 'p|box|one}' };
    const held = () =>
      Promise.all([
        outbox.holds(range),
        outbox.holds(range, { unpublished: true }),
        outbox.holds({ ...range, telling: 'box.changed' }),
        outbox.holds({ ...range, telling: 'box.changed' }, { unpublished: true }),
        outbox.holds({ ...range, telling: 'box.sold' }, { unpublished: true }),
        outbox.holds({ ...range, telling: 'box.sold' }),
        outbox.holds({ from: 'p|box|other|', to: 'p|box|other}' }),
      ]);
    expect(await held()).toEqual([false, false, false, false, false, false, false]);
    await documents.change([putInto(read, 1)]);
    expect(await held()).toEqual([true, true, true, true, false, false, false]);
    const events = await outbox.unpublished(10);
    expect(await held()).toEqual([true, true, true, true, false, false, false]);
    await outbox.markPublished(events.map(({ key }) => key));
    expect(await held()).toEqual([true, false, true, false, false, false, false]);
  });

  it('rows and copies are cleared by their ids', async () => {
    const read = await add('one');
    await documents.change([putInto(read, 1)]);
    await documents.change([putInto(await one('one'), 2)]);
    await documents.clearIds(things, ['one|00000001', 'none']);
    await documents.clearIds(things, []);
    expect((await following()).things).toEqual(['one|00000002']);
    await documents.keep(owners, [{ id: 'ann', doc: { name: 'Ann' }, epoch: 0, version: 'mark' }]);
    await documents.clearIds(owners, ['ann']);
    await documents.keep(owners, [{ id: 'ann', doc: { name: 'Ann' }, epoch: 0, version: 1 }]);
    expect((await documents.get(owners, ['ann'])).size).toBe(1);
    await expect(documents.clearIds(boxes, ['one'])).rejects.toThrow(TypeError);
  });

  it('a database can be closed twice, and cannot be used after that', async () => {
    await documents.check();
    await documents.close();
    await documents.close();
    await expect(documents.check()).rejects.toThrow();
  });

  it('targets cannot be cleared, and only targets can have unique keys', async () => {
    await add('one');
    const all = { above: '', below: '~', limit: 9 };
    await expect(documents.clear(boxes, all)).rejects.toThrow(TypeError);
    expect((await documents.get(boxes, ['one'])).size).toBe(1);
    const indexes = { at: { key: ({ at }: { at: number }) => `${at}`, unique: true } } as const;
    expect(() => collection({ ...things, indexes })).toThrow(/cannot be unique/);
    expect(() => collection({ ...things, name: 'events' })).toThrow(TypeError);
  });

  it('documents can contain any JSON with any field names', async () => {
    const any = collection<{ data: unknown }>({
      ...{ name: 'any', kind: 'target', version: 1, schema: z.object({ data: z.unknown() }) },
    });
    await using own = await createStore(engine);
    const some = await openDocuments(own.config, { collections: [any] });
    try {
      const data = { $set: 1, 'a.b': { '': [null, 'é', 1e20] }, __proto__: undefined };
      await some.change([{ in: any, target: 'one', set: { data } }]);
      expect((await some.get(any, ['one'])).get('one')?.doc).toEqual(JSON.parse(JSON.stringify({ data })));
    } finally {
      await some.close();
    }
  });

  it('a database of an older or newer layout is refused with its name', async () => {
    const note = async (version: number) => {
      const { config } = place;
      if (config.kind === 'sqlite') {
        using db = new DatabaseSync(config.file);
        db.exec(`PRAGMA user_version = ${version}`);
        return basename(config.file);
      }
      await using client = new MongoClient(config.url);
      await client.db(config.database).collection('schema').updateOne({}, { $set: { version } });
      return config.database;
    };
    await documents.close();
    for (const [version, what] of [
      [3, 'an older'],
      [900, 'a newer'],
    ] as const) {
      const name = await note(version);
      const refused = openDocuments(place.config, declared);
      await expect(refused).rejects.toThrow(StartError);
      await expect(refused).rejects.toThrow(name);
      await expect(refused).rejects.toThrow(`written by ${what} version of Kith (schema ${version})`);
    }
  });

  it('undeclared collections and indexes cannot be read', async () => {
    const other = collection({ name: 'other', kind: 'target', version: 1, schema: z.object({}) });
    await expect(documents.get(other, ['x'])).rejects.toThrow(TypeError);
    await expect(documents.range(boxes, { above: '', below: '~', limit: 1 }, 'size')).rejects.toThrow(
      TypeError,
    );
  });

  it('changes that were acknowledged to a killed process are complete, and no change is stored in part', async () => {
    await add('one');
    const whole = async () => {
      await documents.sweep();
      const { doc } = await one('one');
      const rows = await documents.range(things, { above: '', below: '~', limit: 10_000 });
      const events = await documents.outbox.unpublished(10_000);
      const sums = (await documents.sums(totals, ['ann'])).get('ann');
      return [doc.things, rows.length, events.length, sums?.things];
    };
    let acknowledged = 0;
    for (let life = 1; life <= 3; life++) {
      const script = fileURLToPath(new URL('documents-support/dies.ts', import.meta.url));
      const words = [script, JSON.stringify(place.config)];
      const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      const until = acknowledged + 10 * life;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged = Number(line);
        if (acknowledged >= until) child.kill('SIGKILL');
      }
      await ended;
      // The process died before the database answered, and the database may still store the change. So all numbers are read
      // each time.
      await expect.poll(async () => new Set(await whole()).size).toBe(1);
      expect((await one('one')).doc.things).toBeGreaterThanOrEqual(acknowledged);
    }
  });
});

describe.runIf(availableEngines().includes('containers'))('documents on MongoDB', () => {
  it('a start that is refused creates nothing', async () => {
    await using place = await createStore('containers');
    if (place.config.kind !== 'mongo') throw new TypeError('The store is on MongoDB.');
    const newer = { ...things, version: 2, upgrade: (old: unknown) => old };
    await (await openDocuments(place.config, { collections: [newer] })).close();
    const key = ({ at }: { at: number }) => `${at}`;
    const indexed = { ...newer, indexes: { at: { key } } };
    await using client = new MongoClient(place.config.url);
    const db = client.db(place.config.database);
    const stored = async () => ({
      layouts: await db.collection('layout').find().sort({ _id: 1 }).toArray(),
      things: (await db.collection('things').indexes()).map(({ name }) => name),
      collections: (await db.collections()).map(({ collectionName }) => collectionName).sort(),
    });
    const before = await stored();
    for (const refused of [indexed, things]) {
      await expect(openDocuments(place.config, { collections: [boxes, refused] })).rejects.toThrow(
        StartError,
      );
      expect(await stored()).toEqual(before);
    }
  });

  it('documents that are read by id in one turn of the event loop need only one query', async () => {
    await using place = await createStore('containers');
    await using watched = await watchReads(place.config);
    const documents = await openDocuments(watched.config, declared);
    const tablesOf = async (work: () => Promise<unknown>) =>
      (await watched.tripsOf(work)).flat().map(({ table }) => table);
    try {
      const ids = Array.from({ length: 32 }, (_, at) => `box-${at}`);
      await documents.change(ids.map((id) => ({ in: boxes, target: id, set: box({ things: 1 }) })));
      const asked = await tablesOf(async () => {
        const found = await Promise.all(
          ids.map((id, at) => documents.get(boxes, [id, `box-${at + 1}`, 'none'])),
        );
        expect(found.map(({ size }) => size)).toEqual(ids.map((_, at) => (at < 31 ? 2 : 1)));
      });
      expect(asked).toEqual(['boxes']);
      // Nothing is cached from one turn of the loop to the next.
      expect(await tablesOf(() => documents.get(boxes, ['box-1']))).toEqual(['boxes']);
    } finally {
      await documents.close();
    }
  });

  it('several pages that are read in one turn of the event loop need only one query for all totals', async () => {
    await using place = await createStore('containers');
    await using watched = await watchReads(place.config);
    const documents = await openDocuments(watched.config, declared);
    const ids = ['one', 'two', 'three'];
    for (const id of ids) {
      await documents.change([{ in: boxes, target: id, set: box({ owner: id }) }]);
      const read = (await documents.get(boxes, [id])).get(id) as Stored<Box>;
      await documents.change([putInto(read, 1)]);
    }
    try {
      const trips = await watched.tripsOf(async () => {
        const pages = ids.map((id) =>
          documents.page(
            things,
            { above: `${id}|`, below: `${id}|~`, limit: 1 },
            { in: totals, id, field: 'things' },
          ),
        );
        const sums = documents.sums(totals, ['two', 'four', 'two']);
        expect((await Promise.all(pages)).map(({ rows, total }) => [rows.length, total])).toEqual(
          ids.map(() => [1, 1]),
        );
        expect([...(await sums)]).toEqual([
          ['two', { boxes: 0, things: 1 }],
          ['four', { boxes: 0, things: 0 }],
        ]);
      });
      const asked = trips.flat().map(({ table }) => table);
      expect(asked.toSorted()).toEqual(['things', 'things', 'things', 'totals']);
    } finally {
      await documents.close();
    }
  });

  it('new documents without rows or counters are inserted in one write', async () => {
    await using place = await createStore('containers');
    const documents = await openDocuments(place.config, declared);
    const inserts = vi.spyOn(MongoCollection.prototype, 'insertMany');
    const updates = vi.spyOn(MongoCollection.prototype, 'updateOne');
    try {
      const ids = Array.from({ length: 32 }, (_, at) => `box-${at}`);
      const outcomes = await documents.change(
        ids.map((id) => ({ in: boxes, target: id, set: box({ label: id }) })),
      );
      expect(outcomes).toEqual(ids.map(() => 'made'));
      expect([inserts.mock.calls.length, updates.mock.calls.length]).toEqual([1, 0]);
    } finally {
      inserts.mockRestore();
      updates.mockRestore();
      await documents.close();
    }
  });

  it('a counter is not cleared while a change is about to add to it', async () => {
    await using place = await createStore('containers');
    const { config } = place;
    if (config.kind !== 'mongo') throw new Error('There is no MongoDB.');
    const all = { above: '', below: '~', limit: 9 };
    const cleared: number[] = [];
    const clears = async (step: string) => {
      if (step === 'announced') cleared.push(await documents.clear(totals, all));
    };
    const documents = await openMongoDocuments({ ...config, ...declared, onStep: clears });
    try {
      await documents.change([{ in: boxes, target: 'one', set: box() }]);
      const read = (await documents.get(boxes, ['one'])).get('one') as Stored<Box>;
      cleared.length = 0;
      expect(await documents.change([putInto(read, 1)])).toEqual(['made']);
      expect(cleared).toEqual([0]);
      expect((await documents.sums(totals, ['ann'])).get('ann')?.things).toBe(1);
      expect(await documents.clear(totals, all)).toBe(1);
    } finally {
      await documents.close();
    }
  });

  it('many changes need only a few round trips', async () => {
    await using place = await createStore('containers');
    await using watched = await watchReads(place.config);
    const documents = await openDocuments(watched.config, declared);
    try {
      const ids = Array.from({ length: 50 }, (_, at) => `box-${at}`);
      const sets = ids.map((id) => box({ owner: `${id.length}`, label: id }));
      const made = await watched.tripsOf(() =>
        documents.change(
          ids.map((id, at) => ({
            ...{ in: boxes, target: id, set: sets[at] as Box, rows: [{ in: things, id, put: { at } }] },
            counters: [{ in: totals, id: `${at % 7}`, add: { boxes: 1 } }],
          })),
        ),
      );
      expect(made.length).toBeLessThanOrEqual(12);
      const reads = await documents.get(boxes, ids);
      const put = await watched.tripsOf(() =>
        documents.change([...reads.values()].map((read) => putInto(read, 1))),
      );
      expect(put.length).toBeLessThanOrEqual(14);
      expect(await documents.count(things, { above: '', below: '~' })).toBe(100);
    } finally {
      await documents.close();
    }
  });

  it.each(['announced', 'committed', 'rows', 'counters', 'settled'] as const)(
    'if a process dies after the step %s of many changes, each document is changed completely or not at all',
    async (last) => {
      await using place = await createStore('containers');
      const { config } = place;
      if (config.kind !== 'mongo') throw new Error('There is no MongoDB.');
      const dies = (step: string) => {
        if (step === last) throw new Error('ended');
      };
      const dying = await openMongoDocuments({ ...config, ...declared, onStep: dies });
      const other = await openDocuments(config, declared);
      const names = ['one', 'two', 'three'];
      try {
        await other.change(names.map((id) => ({ in: boxes, target: id, set: box() })));
        const reads = await other.get(boxes, names);
        const some = [...reads.values()].map((read) => putInto(read, 1));
        const more = ['four', 'five'].map((id) => ({
          ...{ in: boxes, target: id, set: box(), rows: [{ in: things, id: `${id}|1`, put: { at: 1 } }] },
        }));
        await expect(dying.change([...some, ...more])).rejects.toThrow('ended');
        const whole = async () => {
          await other.sweep();
          const found = await other.range(boxes, { above: '', below: '~', limit: 10 });
          const rows = await other.count(things, { above: '', below: '~' });
          const sums = (await other.sums(totals, ['ann'])).get('ann');
          const events = (await other.outbox.unpublished(10)).length;
          return [found.map(({ doc }) => doc.things).sort(), rows, sums?.things, events];
        };
        const expected = last === 'announced' ? [[0, 0, 0], 0, 0, 0] : [[0, 0, 1, 1, 1], 5, 3, 3];
        await expect.poll(whole).toEqual(expected);
        // The next process takes over placeholders that were left behind, even many at once.
        const again = await other.change(more);
        expect(again).toEqual(more.map(() => (last === 'announced' ? 'made' : 'there')));
      } finally {
        await dying.close();
        await other.close();
      }
    },
  );

  it.each(['announced', 'committed', 'rows', 'counters'] as const)(
    'if a process dies after the step %s, a document is changed completely or not at all',
    async (last) => {
      await using place = await createStore('containers');
      const { config } = place;
      if (config.kind !== 'mongo') throw new Error('There is no MongoDB.');
      const dies = (step: string) => {
        if (step === last) throw new Error('ended');
      };
      const dying = await openMongoDocuments({ ...config, ...declared, onStep: dies });
      const other = await openDocuments(config, declared);
      const read = async () => (await other.get(boxes, ['one'])).get('one') as Stored<Box>;
      try {
        const first = [{ in: boxes, target: 'one', set: box() }];
        if (last === 'announced') {
          // The next process takes over the placeholder of the dead process.
          const counted = { ...first[0]!, counters: [{ in: totals, id: 'ann', add: { boxes: 1 } }] };
          await expect(dying.change([counted])).rejects.toThrow('ended');
          expect((await other.get(boxes, ['one'])).size).toBe(0);
        }
        expect(await other.change(first)).toEqual(['made']);
        await expect(dying.change([putInto(await read(), 1)])).rejects.toThrow('ended');
        const made = last === 'announced' ? 0 : 1;
        const whole = async () => {
          await other.sweep();
          const rows = await other.range(things, { above: '', below: '~', limit: 10 });
          const sums = (await other.sums(totals, ['ann'])).get('ann');
          const events = (await other.outbox.unpublished(10)).length;
          return [(await read()).doc.things, rows.length, sums?.things, events];
        };
        await expect.poll(whole).toEqual([made, made, made, made]);
        expect(await other.change([putInto(await read(), 2)])).toEqual(['made']);
        expect((await read()).doc.things).toBe(made + 1);
      } finally {
        await dying.close();
        await other.close();
      }
    },
  );
});
