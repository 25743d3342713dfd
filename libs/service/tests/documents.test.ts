// Starts at most 0 platforms and 6 processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Collection, collection, type Documents, type StoreConfig, type Stored } from '@kith/service';
import { availableEngines, createStore } from '@kith/testing';
import { Collection as MongoCollection } from 'mongodb';
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
  /** Everything that follows from boxes. */
  const following = async () => ({
    things: idsOf(await documents.range(things, { above: '', below: '~', limit: 100 })),
    totals: (await documents.sums(totals, ['ann'])).get('ann'),
    events: (await documents.outbox.unpublished(100)).length,
  });

  describe('are read', () => {
    it('by id, those that are there', async () => {
      await add('one', { label: 'One' });
      const found = await documents.get(boxes, ['one', 'two']);
      expect([...found]).toEqual([
        ['one', expect.objectContaining({ id: 'one', doc: box({ label: 'One' }) })],
      ]);
    });

    it('by a key, and not at all where the key is none', async () => {
      await add('one', { label: 'One' });
      await add('two');
      const found = await documents.by(boxes, 'label', ['ann|One', 'ann|', 'bob|One']);
      expect([...found.keys()]).toEqual(['ann|One']);
      expect(idsOf(found.get('ann|One') ?? [])).toEqual(['one']);
    });

    it('as a range between two ends, from either, behind others, without some', async () => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await add(id);
      const range = async (how: object) =>
        idsOf(await documents.range(boxes, { above: 'a', below: 'e', limit: 9, ...how }));
      expect(await range({})).toEqual(['b', 'c', 'd']);
      expect(await range({ backwards: true, limit: 2 })).toEqual(['d', 'c']);
      expect(await range({ skip: 1 })).toEqual(['c', 'd']);
      expect(await range({ except: ['b'], skip: 1 })).toEqual(['d']);
      expect(await documents.count(boxes, { above: 'a', below: 'e', except: ['c'] })).toBe(2);
      const owned = { above: 'ann|', below: 'ann|~', limit: 2 };
      expect(idsOf(await documents.range(boxes, owned, 'owner'))).toEqual(['a', 'b']);
    });

    it('as a page with its total, which leaves out what is passed over', async () => {
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

    it('by what is written in them', async () => {
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
    });
  });

  describe('are changed', () => {
    it('where they are as they were read, and only there', async () => {
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

    it('not by whoever has read one that was deleted and made again', async () => {
      const read = await add('one');
      await documents.change([{ in: boxes, target: read, set: null }]);
      await add('one');
      expect(await documents.change([{ in: boxes, target: read, set: box() }])).toEqual(['changed']);
    });

    it('with all that follows, or with nothing of it', async () => {
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

    it('to what their collection describes: anything else is told, and nothing of that is stored', async () => {
      const read = await add('one');
      const wrong = { ...putInto(read, 1), set: { ...box(), things: -1 } };
      await expect(documents.change([wrong])).rejects.toThrow();
      const row = { ...putInto(read, 1), rows: [{ in: things, id: 'x', put: { at: 'now' } }] };
      await expect(documents.change([row])).rejects.toThrow();
      expect(await following()).toEqual({ things: [], totals: { boxes: 0, things: 0 }, events: 0 });
      expect(await one('one')).toEqual(read);
    });

    it('to no key that another one has, which is named', async () => {
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

    it('below others that are there, or not at all', async () => {
      await add('top');
      const below = { index: 'id', keys: ['top', 'middle'] };
      const inner = { in: boxes, target: 'inner', set: box({ parents: ['top', 'middle'] }), below };
      expect(await documents.change([inner])).toEqual(['orphan']);
      await add('middle');
      expect(await documents.change([inner])).toEqual(['made']);
    });

    it('by one of those who come at once, and by the others when they come again', async () => {
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
    }, 30_000);

    it('each for itself, in their order', async () => {
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

    it('from the shape of an older version, as they are read', async () => {
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
      await before.close();
      const after = await openDocuments(own.config, { collections: [newer] });
      const read = (await after.get(newer, ['n'])).get('n');
      expect(read?.doc).toEqual({ name: 'Old' });
      if (read) await after.change([{ in: newer, target: read, set: { name: 'New' } }]);
      expect((await after.get(newer, ['n'])).get('n')?.doc).toEqual({ name: 'New' });
      await after.close();
      const behind = await openDocuments(own.config, { collections: [older] });
      await expect(behind.get(older, ['n'])).rejects.toThrow(/newer version/);
      await behind.close();
      const other = { ...newer, indexes: { name: { key: ({ name }: { name: string }) => name } } };
      await expect(openDocuments(own.config, { collections: [other] })).rejects.toThrow(
        /notes is stored in another way/,
      );
      const more = await openDocuments(own.config, { collections: [newer, things] });
      expect((await more.get(newer, ['n'])).size).toBe(1);
      await more.close();
    });
  });

  it('go when they expire, and their events stay', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const set = box({ endsAt: 2_000 });
    await documents.change([{ in: boxes, target: 'one', set, events: [told('one', set)] }]);
    await add('two');
    await documents.sweep();
    expect((await documents.get(boxes, ['one', 'two'])).size).toBe(2);
    vi.setSystemTime(2_001);
    // It is not away before its events are.
    expect(await documents.outbox.unpublished(10)).toHaveLength(1);
    await documents.sweep();
    expect([...(await documents.get(boxes, ['one', 'two'])).keys()]).toEqual(['two']);
    expect(await documents.outbox.unpublished(10)).toHaveLength(1);
  });

  it('that are copies are replaced by newer ones alone, and by nothing after a mark', async () => {
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

  it('that are rows and sums are cleared some at a time', async () => {
    const read = await add('one');
    await documents.change([putInto(read, 1)]);
    await documents.change([putInto(await one('one'), 2)]);
    const all = { above: 'one|', below: 'one|~', limit: 1 };
    expect([await documents.clear(things, all), await documents.clear(things, all)]).toEqual([1, 1]);
    expect(await documents.clear(things, all)).toBe(0);
    expect(await documents.clear(totals, { above: '', below: '~', limit: 9 })).toBe(1);
    expect((await following()).totals).toEqual({ boxes: 0, things: 0 });
  });

  it('that are targets are not cleared, and no other kind has unique keys', async () => {
    await add('one');
    const all = { above: '', below: '~', limit: 9 };
    await expect(documents.clear(boxes, all)).rejects.toThrow(TypeError);
    expect((await documents.get(boxes, ['one'])).size).toBe(1);
    const indexes = { at: { key: ({ at }: { at: number }) => `${at}`, unique: true } } as const;
    expect(() => collection({ ...things, indexes })).toThrow(/can not be unique/);
    expect(() => collection({ ...things, name: 'events' })).toThrow(TypeError);
  });

  it('keep whatever a service has in them', async () => {
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

  it('are of this database alone', async () => {
    const other = collection({ name: 'other', kind: 'target', version: 1, schema: z.object({}) });
    await expect(documents.get(other, ['x'])).rejects.toThrow(TypeError);
    await expect(documents.range(boxes, { above: '', below: '~', limit: 1 }, 'size')).rejects.toThrow(
      TypeError,
    );
  });

  it('that a process was told of before it was killed are there, with all that follows, and nothing by half', async () => {
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
      const { things: made } = (await one('one')).doc;
      expect(made).toBeGreaterThanOrEqual(acknowledged);
      await expect.poll(whole, { timeout: 10_000 }).toEqual([made, made, made, made]);
    }
  }, 40_000);
});

describe.runIf(availableEngines().includes('containers'))('documents on MongoDB', () => {
  it('that are read by id in one turn of the loop are one question', async () => {
    await using place = await createStore('containers');
    const documents = await openDocuments(place.config, declared);
    const finds = vi.spyOn(MongoCollection.prototype, 'find');
    try {
      const ids = Array.from({ length: 32 }, (_, at) => `box-${at}`);
      await documents.change(ids.map((id) => ({ in: boxes, target: id, set: box({ things: 1 }) })));
      finds.mockClear();
      const found = await Promise.all(
        ids.map((id, at) => documents.get(boxes, [id, `box-${at + 1}`, 'none'])),
      );
      expect(found.map(({ size }) => size)).toEqual(ids.map((_, at) => (at < 31 ? 2 : 1)));
      expect(finds).toHaveBeenCalledTimes(1);
      // Nothing is kept from one turn to the next.
      await documents.get(boxes, ['box-1']);
      expect(finds).toHaveBeenCalledTimes(2);
    } finally {
      finds.mockRestore();
      await documents.close();
    }
  });

  it.each(['announced', 'committed', 'rows', 'counters'] as const)(
    'are whole or as before where a process ends after it has %s',
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
          // Its place is taken over.
          await expect(dying.change(first)).rejects.toThrow('ended');
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
        await expect.poll(whole, { timeout: 10_000 }).toEqual([made, made, made, made]);
        expect(await other.change([putInto(await read(), 2)])).toEqual(['made']);
        expect((await read()).doc.things).toBe(made + 1);
      } finally {
        await dying.close();
        await other.close();
      }
    },
  );
});
