import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import type { DocumentChange, Documents, Stored } from '@kith/store';
import { availableEngines, createStore } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DocumentsFile, type ServiceBackup } from '../src/backup/index.ts';
import { ServiceCopy } from '../src/backup/service-copy.ts';
import { openDocuments } from '../src/documents/open-documents.ts';
import { type Box, box, boxes, declared, putInto, things, told, totals } from './documents-support/shelf.ts';

const rangeOf = (id: string) => ({ above: `${id}|`, below: `${id}}` });

const backup: ServiceBackup = {
  service: 'shelf',
  declared,
  follows: [{ rows: things, target: boxes, of: ({ id }) => rangeOf(id) }],
  counted: [{ rows: things, counters: totals, add: () => ({ id: 'ann', add: { things: 1 } }) }],
  standing: ({ aggregate }, copied) => ({ seq: copied.find(boxes, aggregate.id)?.seq }),
  anonymous: {},
};

describe.runIf(availableEngines().includes('containers'))('a copy of a service that continues to run', () => {
  const ids = ['a', 'b', 'c'];
  let place: Awaited<ReturnType<typeof createStore>>;
  let documents: Documents;
  let folder: string;
  beforeEach(async () => {
    place = await createStore('containers');
    documents = await openDocuments(place.config, declared);
    folder = await mkdtemp(join(tmpdir(), 'kith-copy-'));
    for (const id of ids) {
      await make({ in: boxes, target: id, set: box({ label: `box ${id}` }) });
      for (let at = 0; at < 10; at++) await make(putInto(await read(id), at));
    }
  });
  afterEach(async () => {
    await documents.close();
    await place[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const read = async (id: string) => (await documents.get(boxes, [id])).get(id) as Stored<Box>;
  const make = async (change: DocumentChange<Box>) =>
    expect(await documents.change([change])).toEqual(['made']);
  const takeFirst = async (id: string) => {
    const target = await read(id);
    const [first] = await documents.range(things, { ...rangeOf(id), limit: 1 });
    const set = { ...target.doc, things: target.doc.things - 1, seq: target.doc.seq + 1 };
    const rows = [{ in: things, id: first?.id ?? '', put: null }];
    await make({ in: boxes, target, set, rows, events: [told(id, set)] });
  };
  /** Copies the service while `work` is repeated. */
  const copyWhile = async (work: (round: number) => Promise<void>): Promise<DatabaseSync> => {
    if (place.config.kind !== 'mongo') throw new Error('Not on MongoDB.');
    const path = join(folder, `${crypto.randomUUID()}.sqlite`);
    let isDone = false;
    const working = (async () => {
      for (let round = 0; !isDone; round++) await work(round);
    })();
    {
      using file = new DocumentsFile(path, declared);
      // Copies one by one, so that other targets change in between.
      const options = { hasArrived: () => false, givenUp: async () => [], atOnce: 1 };
      await using copy = await ServiceCopy.open(backup, place.config, file, options);
      await copy.copy();
      file.close();
    }
    isDone = true;
    await working;
    return new DatabaseSync(path);
  };
  const storedIn = (file: DatabaseSync) =>
    file
      .prepare('SELECT id, doc FROM boxes ORDER BY id')
      .all()
      .map(({ id, doc }) => ({ id: String(id), doc: JSON.parse(String(doc)) as Box }));

  it('the copy has one version of each target with its rows and events, and totals that match the rows', async () => {
    using file = await copyWhile(async (round) => {
      await Promise.all(
        ids.map(async (id) => (round % 3 === 2 ? takeFirst(id) : make(putInto(await read(id), 10 + round)))),
      );
    });
    const events = file.prepare('SELECT event FROM events').all();
    const told = events.map(({ event }) => (JSON.parse(String(event)) as EventEnvelope).aggregate);
    let all = 0;
    for (const { id, doc } of storedIn(file)) {
      const { above, below } = rangeOf(id);
      const rows = file.prepare('SELECT 1 FROM things WHERE id > ? AND id < ?').all(above, below);
      expect([id, rows.length]).toEqual([id, doc.things]);
      const seqs = told.filter((aggregate) => aggregate.id === id).map(({ seq }) => seq);
      const wanted = Array.from({ length: doc.seq - 1 }, (_, at) => at + 2);
      expect(seqs.toSorted((one, other) => one - other)).toEqual(wanted);
      all += doc.things;
    }
    expect(all).toBeGreaterThanOrEqual(30);
    expect(file.prepare('SELECT "by things" AS things FROM totals').get()).toEqual({ things: all });
  }, 60_000);

  it('the copy has every target, even if a unique key moves between targets', async () => {
    // By id, these targets lie between `a` and `b`. So the copy reads `b` some changes later than `a`.
    const others = Array.from({ length: 10 }, (_, at) => `a${at}`);
    for (const id of others) await make({ in: boxes, target: id, set: box() });
    const label = async (id: string, text: string) => {
      const target = await read(id);
      await make({ in: boxes, target, set: { ...target.doc, label: text } });
    };
    for (let copies = 0; copies < 25; copies++) {
      using file = await copyWhile(async (round) => {
        const [first = '', second = ''] = round % 2 === 0 ? ['box b', 'box a'] : ['box a', 'box b'];
        await label('a', '');
        await label('b', second);
        await label('a', first);
      });
      expect(storedIn(file).map(({ id }) => id)).toEqual(['a', ...others, 'b', 'c']);
      const labels = storedIn(file).flatMap(({ doc }) => doc.label || []);
      expect(new Set(labels).size).toBe(labels.length);
    }
  }, 60_000);

  it('the copy has no events of a target that is created meanwhile, even if its creator’s clock is behind', async () => {
    const created = (id: string, minutes: number) => ({
      ...told(id, { seq: 1 }),
      occurredAt: new Date(Date.now() - minutes * 60_000).toISOString(),
    });
    // The copy has neither of these two targets. `new` was made after the copy had passed its id. `ended` has ended long ago.
    await documents.outbox.restate([created('new', 30), created('ended', 120)]);
    using file = await copyWhile(async () => void (await read('a')));
    const events = file.prepare('SELECT event FROM events').all();
    const tellsOf = events.map(({ event }) => (JSON.parse(String(event)) as EventEnvelope).aggregate.id);
    expect(tellsOf).toContain('ended');
    expect(tellsOf).not.toContain('new');
  });
});
