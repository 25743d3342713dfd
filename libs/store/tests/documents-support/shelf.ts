import type { EventEnvelope } from '@kith/contracts';
import { collection, counters, type DocumentChange, type Stored } from '@kith/store';
import { z } from 'zod';

/**
 * A made-up service. It has boxes within boxes, a list by time of the things in each box, counts per owner, and copies of
 * owners.
 */
export interface Box {
  owner: string;
  label: string;
  parents: string[];
  things: number;
  seq: number;
  endsAt: number | null;
}

export const boxes = collection<Box>({
  name: 'boxes',
  kind: 'target',
  version: 1,
  schema: z.object({
    owner: z.string(),
    label: z.string(),
    parents: z.array(z.string()),
    things: z.int().nonnegative(),
    seq: z.int(),
    endsAt: z.int().nullable(),
  }),
  indexes: {
    id: { key: (_, id) => id },
    label: { key: ({ owner, label }) => (label ? `${owner}|${label}` : null), unique: true },
    owner: { key: ({ owner }, id) => `${owner}|${id}` },
    parent: { key: ({ parents }) => parents.at(-1) ?? null },
  },
  search: { label: ({ label }) => label.toLowerCase() },
  expires: ({ endsAt }) => endsAt,
});

export interface Thing {
  at: number;
}

export const things = collection<Thing>({
  name: 'things',
  kind: 'row',
  version: 1,
  schema: z.object({ at: z.int() }),
});

export const totals = counters({ name: 'totals', fields: ['boxes', 'things'] });

export interface Owner {
  name: string;
}

export const owners = collection<Owner>({
  name: 'owners',
  kind: 'copy',
  version: 1,
  schema: z.object({ name: z.string() }),
});

export const declared = { collections: [boxes, things, owners], counters: [totals] };

export const box = (changes: Partial<Box> = {}): Box => ({
  ...{ owner: 'ann', label: '', parents: [], things: 0, seq: 1, endsAt: null },
  ...changes,
});

export function told(id: string, { seq }: Pick<Box, 'seq'>): EventEnvelope {
  return {
    id: crypto.randomUUID(),
    type: 'box.changed',
    version: 1,
    projectId: 'p',
    occurredAt: new Date().toISOString(),
    actorId: null,
    aggregate: { type: 'box', id, seq },
    data: {},
  };
}

/** Puts a thing into a box, with all that follows from it. */
export function putInto(read: Stored<Box>, at: number): DocumentChange<Box> {
  const set = { ...read.doc, things: read.doc.things + 1, seq: read.doc.seq + 1 };
  return {
    in: boxes,
    target: read,
    set,
    rows: [{ in: things, id: `${read.id}|${String(at).padStart(8, '0')}`, put: { at } }],
    counters: [{ in: totals, id: set.owner, add: { things: 1 } }],
    events: [told(read.id, set)],
  };
}
