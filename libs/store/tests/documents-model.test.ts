import type { DocumentChange, Documents, Refusal, Stored } from '@kith/store';
import { availableEngines, createStore } from '@kith/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openDocuments } from '../src/documents/open-documents.ts';
import { type Box, box, boxes, declared, putInto, things, totals } from './documents-support/shelf.ts';

const ids = ['a', 'b', 'c'];
const labels = ['', 'x', 'y'];

/** An act on a box. It uses an earlier read of the box. `ago` says which one: 0 is the last, 1 is the one before. */
type Act =
  | { kind: 'make'; id: string; label: string }
  | { kind: 'label'; id: string; label: string; ago: number }
  | { kind: 'put'; id: string; at: number; ago: number }
  | { kind: 'delete'; id: string; ago: number };

const id = fc.constantFrom(...ids);
const label = fc.constantFrom(...labels);
const ago = fc.constantFrom(0, 0, 0, 1, 2);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('make' as const), id, label }),
  fc.record({ kind: fc.constant('label' as const), id, label, ago }),
  fc.record({ kind: fc.constant('put' as const), id, at: fc.integer({ min: 1, max: 5 }), ago }),
  fc.record({ kind: fc.constant('delete' as const), id, ago }),
);

/** Most calls have one act. */
const calls = fc.array(
  fc.oneof(
    { arbitrary: fc.tuple(act), weight: 3 },
    { arbitrary: fc.array(act, { minLength: 2, maxLength: 5 }), weight: 1 },
  ),
  { maxLength: 30 },
);

/** The expected state: the current content of every box, and its content at each read. */
class Model {
  readonly boxes = new Map<string, Box>();
  /** The reads of each box. `changes` says how many changes had been made in all boxes at the time of the read. */
  readonly reads = new Map<string, { read: Stored<Box>; changes: number }[]>();
  /** For each box, the number of its last change. The changes of all boxes are numbered together. */
  readonly changedAt = new Map<string, number>();
  changes = 0;
  readonly rows = new Set<string>();
  things = 0;

  isTaken(own: string, label: string): boolean {
    return label !== '' && [...this.boxes].some(([id, one]) => id !== own && one.label === label);
  }
}

/** The change for an act, with the expected outcome; `null` if the box was never read. */
function asked(model: Model, one: Act): { change: DocumentChange<Box>; expected: 'made' | Refusal } | null {
  const current = model.boxes.get(one.id);
  if (one.kind === 'make') {
    // If a box is made again, the events of the new box must not repeat the `seq`s of the old box.
    const set = box({ label: one.label, seq: 1_000 * (model.changes + 1) });
    const change = { in: boxes, target: one.id, set };
    if (current) return { change, expected: 'there' };
    if (model.isTaken(one.id, one.label)) return { change, expected: { taken: 'label' } };
    model.boxes.set(one.id, set);
    model.changedAt.set(one.id, ++model.changes);
    return { change, expected: 'made' };
  }
  const { read, changes = 0 } = (model.reads.get(one.id) ?? []).at(-1 - one.ago) ?? {};
  if (!read) return null;
  const isLatest = current !== undefined && changes >= (model.changedAt.get(one.id) ?? 0);
  const put = one.kind === 'put' ? putInto(read, one.at) : undefined;
  const set =
    one.kind === 'delete' ? null : (put?.set ?? { ...read.doc, label: (one as { label: string }).label });
  const change = put ?? { in: boxes, target: read, set };
  if (!isLatest) return { change, expected: 'changed' };
  if (set && model.isTaken(one.id, set.label)) return { change, expected: { taken: 'label' } };
  model.changedAt.set(one.id, ++model.changes);
  if (set) model.boxes.set(one.id, set);
  else model.boxes.delete(one.id);
  for (const row of put?.rows ?? []) model.rows.add(row.id);
  if (put) model.things++;
  return { change, expected: 'made' };
}

/** Does several acts in one call of `change`. */
async function does(documents: Documents, model: Model, acts: readonly Act[]): Promise<void> {
  const all = acts.flatMap((one) => asked(model, one) ?? []);
  const outcomes = await documents.change(all.map(({ change }) => change));
  expect(outcomes).toEqual(all.map(({ expected }) => expected));
  for (const id of ids) {
    const read = (await documents.get(boxes, [id])).get(id);
    const reads = model.reads.get(id) ?? [];
    const isKnown = (reads.at(-1)?.changes ?? 0) >= (model.changedAt.get(id) ?? 0);
    if (!read || isKnown) continue;
    model.reads.set(id, [...reads, { read, changes: model.changes }].slice(-4));
  }
}

async function compare(documents: Documents, model: Model): Promise<void> {
  const all = { above: '', below: '~', limit: 100 };
  const found = await documents.range(boxes, all);
  expect(found.map(({ id, doc }) => [id, doc])).toEqual([...model.boxes].sort());
  const byLabel = await documents.by(boxes, 'label', ['ann|x', 'ann|y']);
  for (const name of ['x', 'y']) {
    const holder = [...model.boxes].find(([, { label }]) => label === name)?.[0];
    expect(byLabel.get(`ann|${name}`)?.map(({ id }) => id)).toEqual(holder && [holder]);
  }
  expect((await documents.range(things, all)).map(({ id }) => id)).toEqual([...model.rows].sort());
  expect((await documents.sums(totals, ['ann'])).get('ann')?.things).toBe(model.things);
}

it.each(availableEngines())(
  'documents match their model after any acts in any order (%s)',
  async (engine) => {
    await fc.assert(
      fc.asyncProperty(calls, async (acts) => {
        await using place = await createStore(engine);
        const documents = await openDocuments(place.config, declared);
        try {
          const model = new Model();
          for (const one of acts) await does(documents, model, one);
          await compare(documents, model);
        } finally {
          await documents.close();
        }
      }),
      // Each run needs a new database. On a database server, this takes long, so there are fewer runs.
      { numRuns: engine === 'embedded' ? 200 : 15 },
    );
  },
  60_000,
);
