import type { Bus } from '@kith/bus';
import { callerOf, callOperation, type OperationAnswer } from '@kith/testing';
import { seeded } from '../random.ts';
import { type Figures, summary } from '../summary.ts';
import type { Kind, Target } from './layout.ts';

/** The pages that are measured. */
export const pageNames = ['first', 'middle', 'end', 'thousandth'] as const;
export type PageName = (typeof pageNames)[number];

/** How long the pages of one list took, in ms. `queryMs` is the time of a search. */
export interface ListFigures {
  size: number;
  pages: Partial<Record<PageName, Figures<{ ms: number }>>>;
  queryMs?: number;
}

const limit = 20;
/** The longest list that is searched. Longer lists are left out, because a search reads the whole list. */
const longestSearch = 100_000;

/**
 * Measures lists of one kind. Each round requests the pages of all lengths in a different order, so that no page always follows
 * the same page. Deep pages are measured afterwards, by themselves, because they push the rows of other pages out of caches.
 */
export async function measureKind(bus: Bus, kind: Kind, rounds: number): Promise<ListFigures[]> {
  const asks: Ask[] = [];
  for (const target of kind.targets) {
    for (const [name, query] of await queriesOf(bus, kind, target)) {
      asks.push({ target, name, query, times: [] });
    }
  }
  const deep = asks.filter(({ name }) => name === 'thousandth');
  const shallow = asks.filter((one) => !deep.includes(one));
  for (const group of [shallow, deep]) await measureGroup(bus, kind, group, rounds);
  const found: ListFigures[] = [];
  for (const target of kind.targets) {
    const own = asks.filter((one) => one.target === target);
    const pages = Object.fromEntries(own.map(({ name, times }) => [name, summary(times)]));
    const isSearched = kind.hasQuery && target.size <= longestSearch;
    const queryMs = isSearched ? await searchMs(bus, kind, target) : undefined;
    found.push({ size: target.size, pages, ...(queryMs === undefined ? {} : { queryMs }) });
  }
  return found;
}

interface Ask {
  target: Target;
  name: PageName;
  query: string;
  times: { ms: number }[];
}

async function measureGroup(bus: Bus, kind: Kind, asks: readonly Ask[], rounds: number): Promise<void> {
  const random = seeded(23);
  const warming = Math.ceil(rounds / 4);
  for (let round = -warming; round < rounds; round++) {
    const order = asks.map((one) => ({ one, at: random() })).toSorted((left, right) => left.at - right.at);
    for (const { one } of order) {
      const started = performance.now();
      await ask(bus, kind, one.target, one.query);
      if (round >= 0) one.times.push({ ms: performance.now() - started });
    }
  }
}

/** The query string for each measured page of a list. The cursors in it come from earlier pages of the same list. */
async function queriesOf(bus: Bus, kind: Kind, target: Target): Promise<[PageName, string][]> {
  const { size } = target;
  const cursors = await (kind.hasNumbers ? jump : walk)(bus, kind, target);
  const queries: [PageName, string][] = [['first', `limit=${limit}`], ...cursors];
  if (kind.hasNumbers && size >= 1_000 * limit) queries.push(['thousandth', `limit=${limit}&page=1000`]);
  return queries;
}

async function jump(bus: Bus, kind: Kind, target: Target): Promise<[PageName, string][]> {
  const pages = target.size / limit;
  const after = async (page: number) =>
    nextOf(await ask(bus, kind, target, `limit=${limit}&page=${Math.floor(page)}`));
  return [
    ['middle', await after(pages / 2)],
    ['end', await after(pages - 2)],
  ];
}

/** Finds the cursors of a list whose pages have no numbers, by reading the list in pages of a hundred rows. */
async function walk(bus: Bus, kind: Kind, target: Target): Promise<[PageName, string][]> {
  const steps = target.size / limit;
  const at = new Map([
    [Math.floor(steps / 2), 'middle'],
    [steps - 2, 'end'],
  ]);
  const found: [PageName, string][] = [];
  let query = `limit=${limit}`;
  for (let step = 1; step < steps; step++) {
    query = nextOf(await ask(bus, kind, target, query));
    const name = at.get(step);
    if (name) found.push([name as PageName, query]);
  }
  return found;
}

function nextOf({ next }: OperationAnswer): string {
  if (!next) throw new Error('A page that is not the last has no link to the next page.');
  return next;
}

async function searchMs(bus: Bus, kind: Kind, target: Target): Promise<number> {
  const times: { ms: number }[] = [];
  for (let round = 0; round < 3; round++) {
    const started = performance.now();
    await ask(bus, kind, target, `limit=${limit}&query=number`);
    times.push({ ms: performance.now() - started });
  }
  return summary(times).median.ms;
}

/** Asks for a page as the gateway does, and checks that the page is complete. */
async function ask(bus: Bus, kind: Kind, target: Target, query: string): Promise<OperationAnswer> {
  const { projectId, userId, params } = target;
  const answer = await callOperation(bus, kind.spec, {
    ...{ projectId, params, query },
    caller: callerOf(userId),
    form: '/v7',
    wireVersion: 'v7',
  });
  const { body } = answer;
  const rows: unknown[] = Array.isArray(body) ? body : (body?.connections ?? body?.requests ?? body?.data);
  if (answer.status !== 200 || rows.length !== limit) {
    throw new Error(`${kind.name} answers ${answer.status} to "${query}": ${answer.text.slice(0, 200)}`);
  }
  return answer;
}
