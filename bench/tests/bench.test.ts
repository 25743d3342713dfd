import { openStore } from '@kith/connections/testing';
import { availableEngines, createStore } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { pageFor, samplePage } from '../src/page.ts';
import { makePopulation } from '../src/population.ts';
import { seeded, zipf } from '../src/random.ts';
import { atLeast, atMost } from '../src/row.ts';
import { ratio, summary } from '../src/summary.ts';
import { pageQueries } from '../src/whole/queries.ts';
import { seedConnections } from '../src/whole/seed.ts';

describe('the load of the benchmark', () => {
  it('has the same requests, people and addresses in every run, and the first person sends most requests', async () => {
    const [one, other] = await Promise.all([makePopulation(), makePopulation()]);
    const order = ({ requests }: typeof one) =>
      requests.map(({ person, address }) => `${person.userId} ${person.projectId} ${address}`);
    expect(order(one)).toEqual(order(other));
    expect(one.people[0]?.token).not.toBe(other.people[0]?.token);
    expect(new Set(one.people.map(({ projectId }) => projectId)).size).toBe(100);
    expect(new Set(one.addresses).size).toBe(500);

    const asked = Map.groupBy(one.requests, ({ person }) => person.userId);
    const times = (at: number) => asked.get(one.people[at]?.userId ?? '')?.length ?? 0;
    expect(times(0) / times(1)).toBeCloseTo(2, 0);
    expect(times(0)).toBeGreaterThan(50 * times(500));
  });

  it("zipf() picks the items as often as Zipf's law says", () => {
    const pick = zipf(3, seeded(1));
    const counts = [0, 0, 0];
    for (let at = 0; at < 11_000; at++) counts[pick()]! += 1;
    for (const [at, share] of [6, 3, 2].entries()) {
      expect(Math.abs(counts[at]! - share * 1_000)).toBeLessThan(300);
    }
  });

  it('pageFor() names the user at the end of the page, and makes pages of the same length for all users', () => {
    const page = pageFor(samplePage());
    const [ann, bob] = ['a'.repeat(36), 'b'.repeat(36)];
    expect(page(ann).length).toBe(page(bob).length);
    expect(page(ann).length).toBeGreaterThan(4_500);
    expect(JSON.parse(page(bob).toString())).toEqual({ ...samplePage(), viewer: bob });
  });
});

describe('the summaries of the benchmark', () => {
  it('summary() returns the median and the range of each field', () => {
    const { median, least, most, wrong } = summary(
      [
        { rps: 3, p99: 1 },
        { rps: 1, p99: 9 },
        { rps: 2, p99: 2 },
      ],
      4,
    );
    expect(median).toEqual({ rps: 2, p99: 2 });
    expect([least.rps, most.rps]).toEqual([1, 3]);
    expect(wrong).toBe(4);
    expect(summary([{ rps: 1 }, { rps: 2 }]).median.rps).toBe(1.5);
  });

  it('ratio() compares round by round, so that a slow period does not distort the result', () => {
    const one = summary([{ rps: 20 }, { rps: 10 }, { rps: 5 }]);
    const other = summary([{ rps: 10 }, { rps: 10 }, { rps: 2.5 }]);
    expect(ratio(one, other, 'rps')).toBe(2);
    expect(ratio(other, one, 'rps')).toBe(0.5);
  });

  it('atLeast() and atMost() tell whether a target was reached', () => {
    expect(atLeast('x', 0.85, 0.85).isReached).toBe(true);
    expect(atLeast('x', 0.849, 0.85).isReached).toBe(false);
    expect(atMost('x', 1, 1).isReached).toBe(true);
    expect(atMost('x', 1.01, 1).isReached).toBe(false);
  });
});

describe.each(availableEngines().filter((engine) => engine === 'containers'))(
  'the driver alone (%s)',
  (engine) => {
    it("reads the same page of the stored connections as the service's store", async () => {
      await using place = await createStore(engine);
      if (place.config.kind !== 'mongo') throw new Error('This test needs MongoDB.');
      const { url, database } = place.config;
      const { people } = await makePopulation({ users: 30, projects: 1, requests: 1 });
      const [{ projectId, userId }] = people as [(typeof people)[number]];
      const store = await openStore(place.config);
      const client = new MongoClient(url);
      try {
        await seedConnections(url, database, { people, each: 25 });
        const range = {
          projectId,
          ownerId: userId,
          list: 'established',
          from: { skip: 0 },
          limit: 21,
        } as const;
        const { entries, total } = await store.list(range);
        expect(total).toBe(25);
        expect(entries).toHaveLength(21);
        const users = await store.profiles.find(
          projectId,
          entries.slice(0, 20).map((entry) => entry.userId),
        );
        const profiles = await pageQueries(client.db(database), { projectId, userId });
        expect(profiles.map(({ d }) => JSON.parse(d).user).toSorted(byId)).toEqual(
          [...users.values()].toSorted(byId),
        );
        expect(users.size).toBe(20);
      } finally {
        await client.close();
        await store.close();
      }
    });
  },
);

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
