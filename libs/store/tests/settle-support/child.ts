import { MongoClient } from 'mongodb';
// Does not load the whole library, because a hundred of these processes are started.
import { Settler } from '../../src/settle/settler.ts';
import { flip, killAtCommand, lampNames, lampsOf, readLamp, view } from './world.ts';

/**
 * A child process's work: it makes `flips` changes of lamps, which a seeded generator chooses. The child may kill itself before
 * the end.
 */
export interface ChildWork {
  url: string;
  database: string;
  seed: number;
  flips: number;
  /** The only lamp to be flipped. */
  lamp?: string;
  /** If set, the child sends itself SIGKILL at this step of the last flip. */
  killAtStep?: string;
  /** If set, the child sends itself SIGKILL after this many writes. */
  killAtWrite?: number;
}

const work: ChildWork = JSON.parse(process.argv[2] ?? '{}');
const client = new MongoClient(work.url, { monitorCommands: work.killAtWrite !== undefined });
await client.connect();
const db = client.db(work.database);
let left = work.flips;
const settler = new Settler(db, {
  onStep(step) {
    if (left === 1 && step === work.killAtStep) process.kill(process.pid, 'SIGKILL');
  },
});
if (work.killAtWrite !== undefined) killAtCommand(client, work.killAtWrite);

const random = generator(work.seed);
while (left > 0) {
  const name = work.lamp ?? lampNames[random(lampNames.length)]!;
  const flipped = await flip(settler, await readLamp(db, settler, name));
  if (!flipped) continue;
  left -= 1;
  process.stdout.write(`${name} ${flipped.seq}\n`);
  if (random(4) === 0) await view(db, settler, `owner${random(3)}`);
}
if ((await lampsOf(db).countDocuments()) === 0) throw new Error('wrong database');
await client.close();

/** A small generator of random whole numbers below a bound (mulberry32). */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}
