import { setImmediate as nextTurn } from 'node:timers/promises';
import { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { EventEnvelope } from '@kith/contracts';
import { Relay } from '@kith/service';
import fc from 'fast-check';
import type { Logger } from 'pino';
import { expect } from 'vitest';
import { MongoOutbox } from '../../src/outbox/mongo-outbox.ts';
import { besideKey } from '../../src/outbox/outbox.ts';
import { Settler } from '../../src/settle/settler.ts';
import {
  flip,
  type Lamp,
  lampNames,
  leftovers,
  makeWorld,
  ownerNames,
  places,
  readLamp,
  truth,
  view,
  viewAll,
} from '../settle-support/world.ts';
import { Client, type Concern, type Gated } from './client.ts';
import { NotModelled } from './documents.ts';
import { ReplicaSet } from './members.ts';

/** One step of a schedule. */
export type Turn =
  | { do: 'go'; at: number }
  | { do: 'replicate'; member: number; most: number }
  | { do: 'fail over' | 'rejoin' | 'wait' }
  | { do: 'discover' | 'cut' | 'die' | 'sleep or wake'; at: number };

/**
 * Random schedules. Most turns let a command continue, in any order. Other turns change the state of the set or of the
 * processes.
 */
export function schedules(): fc.Arbitrary<Turn[]> {
  const at = fc.nat(11);
  const of = (name: Turn['do']) => fc.record({ do: fc.constant(name), at });
  const turn = fc.oneof(
    { weight: 60, arbitrary: of('go') },
    {
      weight: 25,
      arbitrary: fc.record({
        do: fc.constant('replicate'),
        member: fc.nat(2),
        most: fc.integer({ min: 1, max: 6 }),
      }),
    },
    { weight: 3, arbitrary: of('fail over') },
    { weight: 4, arbitrary: of('rejoin') },
    { weight: 5, arbitrary: of('discover') },
    { weight: 2, arbitrary: of('cut') },
    { weight: 1, arbitrary: of('die') },
    { weight: 4, arbitrary: of('sleep or wake') },
    { weight: 2, arbitrary: of('wait') },
  );
  return fc.array(turn as fc.Arbitrary<Turn>, { minLength: 100, maxLength: 250, size: 'max' });
}

/** How a schedule ended. */
export interface Outcome {
  faults: Fault[];
  /**
   * Number of events that had the key of another event, and were nevertheless published and logged as conflicts. Counts only
   * events of committed changes.
   */
  besides: number;
}
export type Fault =
  | 'an acknowledged change is not there'
  | 'a change was acknowledged twice'
  | 'totals, rows and targets differ'
  | 'something stays unsettled'
  | 'events have gaps, or differ from the changes'
  | 'an event is not published'
  | 'an event was published for a change that is not there'
  | 'two events were published for one seq';

/**
 * Plays random schedules. If a schedule fails, rejects with the seed and with the shortest failing schedule that was found
 * within `withinMs`.
 */
export async function losesNothing(numRuns: number, withinMs: number): Promise<void> {
  const property = fc.asyncProperty(schedules(), async (schedule) => {
    expect((await play(schedule)).faults).toEqual([]);
  });
  await fc.assert(property, { numRuns, interruptAfterTimeLimit: withinMs });
}

/**
 * A process may find an intent that still has no commit after this time, in ms. The process then makes sure that the change of
 * this intent can never commit.
 */
const longMs = 31_000;
const metrics = new Metrics();

/**
 * Makes three processes switch lamps, read totals, sweep and publish on a replica set, while a schedule makes the set fail
 * over. Then finishes all remaining work, and checks the data.
 */
export async function play(
  schedule: readonly Turn[],
  concern: (collection: string) => Concern = () => 'majority',
): Promise<Outcome> {
  const world = new World(concern);
  await makeWorld(world.db);
  for (let at = 0; at < 3; at++) world.start(2, at);
  for (const turn of schedule) {
    await nextTurns();
    world.take(turn);
  }
  return world.end();
}

interface Process {
  client: Client;
  relay: Relay;
}

class World {
  readonly #set = new ReplicaSet();
  readonly #gates: Gated[] = [];
  /** The client that makes the first data and checks the data at the end. Its commands are executed immediately. */
  readonly #admin = new Client(this.#set);
  readonly db = this.#admin.db;
  readonly #concern: (collection: string) => Concern;
  readonly #living: Process[] = [];
  readonly #dead: Process[] = [];
  readonly #published: EventEnvelope[] = [];
  readonly #acknowledged: { lamp: string; seq: number; life: string }[] = [];
  /** Keys of events that the relay logged as conflicts. */
  readonly #conflicts = new Set<string>();
  /** The work of all processes, including dead ones. */
  readonly #work: Promise<unknown>[] = [];
  readonly #asleep = new Set<Client>();
  #later = 0;
  #working = 0;

  constructor(concern: (collection: string) => Concern) {
    this.#concern = concern;
  }

  /** Starts a process that makes as many changes as `changes` says. The process also reads, sweeps and publishes. */
  start(changes: number, seed: number): void {
    const client = new Client(this.#set, this.#gates, this.#concern);
    const { db } = client;
    const settler = new Settler(db, { now: () => Date.now() + this.#later });
    const relay = this.#relay(client);
    this.#living.push({ client, relay });
    const repeat = async (times: number, act: (time: number) => Promise<unknown>) => {
      this.#working++;
      // Ignores failures: a failure does not say whether the change was made.
      for (let time = 0; time < times; time++) await act(time).catch(() => undefined);
      this.#working--;
    };
    this.#work.push(
      repeat(changes, async (time) => {
        const name = lampNames[(seed + time) % 2] as string;
        for (let attempt = 0; attempt < 3; attempt++) {
          const made = await flip(settler, await readLamp(db, settler, name));
          if (!made) continue;
          this.#acknowledged.push({ lamp: name, seq: made.seq, life: made.life });
          relay.kick();
          return;
        }
      }),
      repeat(2, (time) => view(db, settler, ownerNames[(seed + time) % 3] as string)),
      repeat(2, () => settler.sweep(places)),
      repeat(2, async () => {
        await client.send(async () => undefined);
        relay.kick();
      }),
    );
  }

  take(turn: Turn): void {
    const process = 'at' in turn ? this.#living[turn.at % this.#living.length] : undefined;
    switch (turn.do) {
      case 'go': {
        const awake = this.#gates.filter(({ client }) => !this.#asleep.has(client));
        const gate = awake[turn.at % awake.length];
        // No command can continue, because all commands under way wait for a majority.
        if (!gate) {
          this.#set.replicateAll();
          return;
        }
        this.#gates.splice(this.#gates.indexOf(gate), 1);
        gate.go();
        return;
      }
      case 'replicate':
        this.#set.replicate(this.#set.members[turn.member % 3] as never, turn.most);
        return;
      case 'fail over':
        this.#set.failOver();
        return;
      case 'rejoin':
        this.#set.rejoin();
        return;
      case 'discover':
        process?.client.discover();
        return;
      case 'cut':
        process?.client.cut();
        return;
      case 'sleep or wake':
        if (process && !this.#asleep.delete(process.client)) this.#asleep.add(process.client);
        return;
      case 'wait':
        this.#later += longMs;
        return;
      case 'die':
        if (!process) return;
        process.client.die();
        this.#dead.push(...this.#living.splice(this.#living.indexOf(process), 1));
        this.start(1, turn.at);
    }
  }

  /** Lets all commands continue until none is left. Then sweeps, publishes the last events, and checks the data. */
  async end(): Promise<Outcome> {
    this.#set.rejoin();
    for (const { client } of this.#dead) client.bury();
    await this.#letGo(() => this.#working === 0);
    let hasStopped = false;
    const stopped = Promise.all([...this.#living, ...this.#dead].map(({ relay }) => relay.stop()));
    void stopped.then(() => {
      hasStopped = true;
    });
    await this.#letGo(() => hasStopped);
    await Promise.all([stopped, ...this.#work]);
    this.#later += longMs;
    const settler = new Settler(this.db, { now: () => Date.now() + this.#later });
    await settler.sweep(places);
    await this.#relay(this.#admin).stop();
    if (NotModelled.first) throw NotModelled.first;
    return this.#judge(settler);
  }

  async #letGo(isDone: () => boolean): Promise<void> {
    for (let turns = 0; !isDone(); turns++) {
      if (turns > 10_000) throw new Error('The processes never finish their work.');
      await nextTurns();
      for (const { go } of this.#gates.splice(0)) go();
      this.#set.replicateAll();
    }
  }

  #relay(client: Client): Relay {
    const never = 2 ** 30;
    const log = {
      warn: () => undefined,
      error: ({ event }: { event: string }) => this.#conflicts.add(event),
    } as unknown as Logger;
    const outbox = new MongoOutbox(client.db, ['lamps']);
    return new Relay({ bus: this.#bus(client), outbox, log, metrics, sweepMs: never, checkMs: never });
  }

  /** A bus whose event log never loses an event. This test does not check failures of the log. */
  #bus(client: Client): Bus {
    const published = this.#published;
    return {
      prefix: 'model',
      publish: ({ body }) =>
        client.send(async () => published.push(JSON.parse(new TextDecoder().decode(body)))),
      log: async () => ({ created: 'model', first: 1, last: published.length, keepsUnheard: false }),
      idAt: async (position) => published[position - 1]?.id,
      onReconnect: () => undefined,
      isConnected: () => true,
    } as Partial<Bus> as Bus;
  }

  async #judge(settler: Settler): Promise<Outcome> {
    const faults = new Set<Fault>();
    const expects = (isSo: boolean, fault: Fault) => {
      if (!isSo) faults.add(fault);
    };
    const history = this.#set.leader.log.flatMap(({ collection, document }) =>
      collection === 'lamps' ? [document as unknown as Lamp] : [],
    );
    for (const { lamp, seq, life } of this.#acknowledged) {
      const isThere = history.some((one) => one._id === lamp && one.seq === seq && one.life === life);
      expects(isThere, 'an acknowledged change is not there');
    }
    const names = new Set(this.#acknowledged.map(({ lamp, seq }) => `${lamp} ${seq}`));
    expects(names.size === this.#acknowledged.length, 'a change was acknowledged twice');

    const views = JSON.stringify(await viewAll(this.db, settler));
    expects(views === JSON.stringify(await truth(this.db)), 'totals, rows and targets differ');
    expects((await leftovers(this.db)) === 0, 'something stays unsettled');

    const told = new Map<string, EventEnvelope>();
    for (const { outbox = [] } of history) {
      for (const { event } of outbox) {
        const one = JSON.parse(event) as EventEnvelope;
        told.set(one.id, one);
      }
    }
    const ends = await this.db.collection<Lamp>('lamps').find().toArray();
    const stored = await this.db.collection<{ _id: string; event: string }>('events').find().toArray();
    const seqsOf = (events: Iterable<EventEnvelope>, lamp: string) =>
      [...events].flatMap(({ aggregate: { id, seq } }) => (id === lamp ? [seq] : [])).sort((a, b) => a - b);
    const kept = stored.map(({ event }) => JSON.parse(event) as EventEnvelope);
    for (const { _id, seq } of ends) {
      const all = `${Array.from({ length: seq }, (_, index) => index + 1)}`;
      const isRight = `${seqsOf(told.values(), _id)}` === all && `${seqsOf(kept, _id)}` === all;
      expects(
        isRight && kept.every(({ id }) => told.has(id)),
        'events have gaps, or differ from the changes',
      );
    }
    const out = new Map(this.#published.map((event) => [event.id, event]));
    const isAllOut = [...told.keys(), ...kept.map(({ id }) => id)].every((id) => out.has(id));
    expects(isAllOut, 'an event is not published');
    expects(
      [...out.keys()].every((id) => told.has(id)),
      'an event was published for a change that is not there',
    );
    const seqs = new Set([...out.values()].map(({ aggregate: { id, seq } }) => `${id} ${seq}`));
    expects(seqs.size === out.size, 'two events were published for one seq');
    const besides = [...told.values()].filter(
      (event) => out.has(event.id) && this.#conflicts.has(besideKey(event)),
    );
    return { faults: [...faults], besides: besides.length };
  }
}

/** Resolves when all processes wait. Two turns are needed, because a relay lets one turn pass between two batches. */
async function nextTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
