import { randomUUID } from 'node:crypto';
import { makeEvent } from '@kith/service';
import type { Collection, Db, MongoClient } from 'mongodb';
import {
  type CounterFields,
  goneIndex,
  pendingIndex,
  type RowFields,
  type TargetFields,
  unsettledIndex,
} from '../../src/settle/plan.ts';
import type { Settler } from '../../src/settle/settler.ts';

/** Leaves out rows that were removed. They stay stored for a while, so that a late writer cannot restore them. */
export const notGone = { gone: { $exists: false } } as const;

/**
 * A lamp that is on or off and has two owners. While the lamp is on, each owner has a row for the lamp, and the owner's total
 * counts the lamp.
 */
export interface Lamp extends TargetFields {
  on: boolean;
  /** Text that is new each time the lamp is switched on. The rows' ids are made from it. */
  life: string;
  seq: number;
}
export interface Owner extends CounterFields {
  n?: number;
}

export const lampNames = ['lamp0', 'lamp1', 'lamp2', 'lamp3'] as const;
export const ownerNames = ['owner0', 'owner1', 'owner2'] as const;
export const places = { targets: ['lamps'], counters: ['owners'] } as const;
const projectId = '00000000-0000-4000-8000-00000000000a';
const switched = { type: 'lamp.switched', version: 1, data: undefined as never } as const;

export function lampsOf(db: Db): Collection<Lamp> {
  return db.collection<Lamp>('lamps');
}

export function ownersOf(db: Db): Collection<Owner> {
  return db.collection<Owner>('owners');
}

export function rowsOf(db: Db): Collection<RowFields> {
  return db.collection<RowFields>('rows');
}

/** Makes the collections and the lamps, all off. */
export async function makeWorld(db: Db): Promise<void> {
  await lampsOf(db).createIndexes([unsettledIndex]);
  await ownersOf(db).createIndexes([pendingIndex]);
  await rowsOf(db).createIndexes([goneIndex]);
  await lampsOf(db).insertMany(lampNames.map((_id) => ({ _id, rev: 0, on: false, life: '', seq: 0 })));
}

/** A lamp's owners. Two of the lamps have the same two owners. */
export function ownersOfLamp(name: string): string[] {
  const index = lampNames.indexOf(name as never);
  return [ownerNames[index % 3], ownerNames[(index + 1) % 3]] as string[];
}

export function rowId(owner: string, lamp: string, life: string): string {
  return `${owner}|${lamp}|${life}`;
}

/** Reads a lamp, and settles its last change if that change is unsettled. */
export async function readLamp(db: Db, settler: Settler, name: string): Promise<Lamp> {
  const lamp = await lampsOf(db).findOne({ _id: name });
  if (!lamp) throw new Error(`no ${name}`);
  await settler.settleTarget('lamps', lamp);
  return lamp;
}

/**
 * Switches a lamp from the state in which it was read to the other state. Returns `null` if it has changed since it was read.
 */
export async function flip(settler: Settler, lamp: Lamp): Promise<Lamp | null> {
  const on = !lamp.on;
  const life = on ? randomUUID() : lamp.life;
  const seq = lamp.seq + 1;
  const event = makeEvent(switched, {
    projectId,
    actorId: null,
    aggregate: { type: 'lamp', id: lamp._id, seq },
    data: { on } as never,
    occurredAt: new Date(),
  });
  const made = await settler.change({
    target: { in: 'lamps', id: lamp._id, rev: lamp.rev },
    set: { on, life, seq },
    events: [event],
    rows: ownersOfLamp(lamp._id).map((owner) => ({
      in: 'rows',
      id: rowId(owner, lamp._id, life),
      put: on ? { lamp: lamp._id } : null,
    })),
    counters: ownersOfLamp(lamp._id).map((owner) => ({ in: 'owners', id: owner, inc: { n: on ? 1 : -1 } })),
  });
  return made ? { ...lamp, on, life, seq, rev: lamp.rev + 1 } : null;
}

/** What a reader sees of an owner: the total and the rows. If needed, settles and reads again, as a service's reader does. */
export async function view(
  db: Db,
  settler: Settler,
  name: string,
): Promise<{ total: number; rows: string[] }> {
  const read = async () => {
    const rows = rowsOf(db).find(
      { _id: { $gt: `${name}|`, $lt: `${name}}` }, ...notGone },
      { sort: { _id: 1 } },
    );
    return Promise.all([ownersOf(db).findOne({ _id: name }), rows.toArray()]);
  };
  let [owner, rows] = await read();
  if (owner && (await settler.settleCounter('owners', owner))) [owner, rows] = await read();
  return { total: owner?.n ?? 0, rows: rows.map(({ _id }) => _id) };
}

/** What a reader has to see of each owner, computed from the lamps alone. */
export async function truth(db: Db): Promise<Record<string, { total: number; rows: string[] }>> {
  const lit = await lampsOf(db).find({ on: true }).toArray();
  return Object.fromEntries(
    ownerNames.map((owner) => {
      const own = lit.filter(({ _id }) => ownersOfLamp(_id).includes(owner));
      const rows = own.map(({ _id, life }) => rowId(owner, _id, life)).sort();
      return [owner, { total: own.length, rows }];
    }),
  );
}

export async function viewAll(db: Db, settler: Settler): Promise<Awaited<ReturnType<typeof truth>>> {
  const views = await Promise.all(ownerNames.map((name) => view(db, settler, name)));
  return Object.fromEntries(ownerNames.map((name, index) => [name, views[index]!]));
}

/** The `seq`s of a lamp's stored events, in order. */
export async function storedSeqs(db: Db, name: string): Promise<number[]> {
  const lamp = await lampsOf(db).findOne({ _id: name });
  return (lamp?.outbox ?? []).map(({ event }) => JSON.parse(event).aggregate.seq);
}

/** How many intents and unsettled targets are left. */
export async function leftovers(db: Db): Promise<number> {
  const owners = await ownersOf(db).find().toArray();
  const intents = owners.reduce((sum, { pending }) => sum + (pending?.length ?? 0), 0);
  return intents + (await lampsOf(db).countDocuments({ unsettled: { $exists: true } }));
}

/** Changes the times of all unsettled changes and intents, so that their processes seem to have died a minute ago. */
export async function ageLeftovers(db: Db): Promise<void> {
  const at = new Date(Date.now() - 60_000);
  for (const owner of await ownersOf(db).find().toArray()) {
    const pending = (owner.pending ?? []).map((intent) => ({ ...intent, at }));
    await ownersOf(db).updateOne({ _id: owner._id }, { $set: { pending } });
  }
  await lampsOf(db).updateMany({ unsettled: { $exists: true } }, { $set: { unsettledAt: at } });
}

/** Kills this process after the n-th write of a client (1 is the first). */
export function killAtCommand(client: MongoClient, n: number): void {
  let seen = 0;
  client.on('commandSucceeded', ({ commandName }) => {
    if (!['update', 'insert', 'findAndModify', 'delete'].includes(commandName)) return;
    seen += 1;
    if (seen === n) process.kill(process.pid, 'SIGKILL');
  });
}
