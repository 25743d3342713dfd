import { setTimeout as sleep } from 'node:timers/promises';
import type { Crowd } from '../load/load.ts';
import type { Pair } from '../load/pair.ts';
import type { Person } from '../load/person.ts';
import type { EventLog } from './event-log.ts';

/** How the platform's data differs from the acknowledged changes, in words. */
export interface Findings {
  lost: string[];
  doubled: string[];
  /** How long it took until there was no difference, or until the check gave up, in ms. */
  after: number;
}

/**
 * Compares the answers that the crowd got with the platform's present answers, lists, totals, events and notifications. Repeats
 * the comparison until everything agrees, or until nothing has improved for `timeoutMs`. The default is a minute, because
 * consumers need time to read all events again if the event log was lost. Nobody else may change anything during the check.
 */
export async function check(crowd: Crowd, log: EventLog, timeoutMs = 60_000): Promise<Findings> {
  await learnAll(crowd);
  const from = performance.now();
  let least = Number.POSITIVE_INFINITY;
  let betterAt = from;
  for (;;) {
    const findings = await compare(crowd, log).catch((error: Error) => ({
      lost: [`could not be compared: ${error.stack}`],
      doubled: [],
    }));
    const after = performance.now() - from;
    const count = findings.lost.length + findings.doubled.length;
    if (count < least) {
      least = count;
      betterAt = performance.now();
    }
    if (count === 0 || performance.now() - betterAt > timeoutMs) return { ...findings, after };
    await sleep(500);
  }
}

/** Reads all data that the crowd changes, until it is known which changes were made. */
async function learnAll({ scene, people, pairs, folders }: Crowd): Promise<void> {
  // Renews the tokens, as a client does after an answer 401. If a process whose clock was behind has signed the tokens, they
  // may already have expired.
  if (scene.record().bears.includes(401)) for (const person of people) await person.rotate();
  const until = performance.now() + 60_000;
  for (const key of [...people, ...pairs, ...folders]) {
    while (!key.isFree) await sleep(50);
    await key.learn();
    while (key.unsureUntil !== undefined && performance.now() < until) {
      await sleep(200);
      await key.learn();
    }
  }
}

async function compare(crowd: Crowd, log: EventLog): Promise<Omit<Findings, 'after'>> {
  const lost: string[] = [];
  const doubled: string[] = [];
  await log.read();
  for (const [key, events] of log.aggregates) {
    const highest = Math.max(...events.keys());
    if (events.size !== highest) lost.push(`${key} has ${events.size} of ${highest} events`);
  }
  doubled.push(...log.contradictions);
  for (const pair of crowd.pairs) {
    const types = log.of('connection', pair.id).map(({ type }) => type);
    const missing = missingOf(pair.told, types);
    if (missing) lost.push(`${missing} of two people was not published`);
    else if (types.length > pair.told.length + pair.unsure) {
      doubled.push(`${types.length} events for ${pair.told.length} changes of two people`);
    }
  }
  for (const person of crowd.people) {
    const names = log.of('user', person.id).map(({ data }) => (data as { name: string }).name);
    const missing = missingOf(person.names, names.slice(1));
    if (missing) lost.push(`the event of a user's new name ${missing} was not published`);
    if (names.at(-1) !== person.name)
      lost.push(`a user's last event says ${names.at(-1)}, not ${person.name}`);
    await comparePerson(crowd, log, person, lost, doubled);
  }
  for (const folder of crowd.folders) {
    if (!folder.id) continue;
    const token = folder.owner.accessToken;
    const path = `/collections/${folder.id}/entities?limit=100`;
    const { body } = await crowd.scene.ask('collections', 'GET', path, { token });
    compareSets('a collection holds', idsOf(body.data), [...folder.saved], lost, doubled);
  }
  return { lost, doubled };
}

async function comparePerson(
  { scene, pairs }: Crowd,
  log: EventLog,
  person: Person,
  lost: string[],
  doubled: string[],
): Promise<void> {
  const read = async (kind: 'connections' | 'notifications', path: string) => {
    const { body, isOk } = await scene.ask(kind, 'GET', path, { token: person.accessToken });
    if (!isOk) throw new Error(`${path} answered ${JSON.stringify(body)}`);
    return body;
  };
  const mine = pairs.filter(({ people }) => people.includes(person));
  const otherOf = ({ people: [one, other] }: Pair) => (one === person ? other : one);
  const standing = (is: string, by?: 'me' | 'other') =>
    mine
      .filter(({ standing }) => standing.is === is)
      .filter(({ standing }) => !by || ('by' in standing && (standing.by === person) === (by === 'me')))
      .map((pair) => `${otherOf(pair).id} ${otherOf(pair).name}`);
  const shown = ({ id, name }: { id: string; name: string }) => `${id} ${name}`;

  const list = await read('connections', '/connections?limit=100');
  const rows = list.connections as { connectedUser: { id: string; name: string } }[];
  const connected = standing('connected');
  compareSets(
    'connected to',
    rows.map(({ connectedUser }) => shown(connectedUser)),
    connected,
    lost,
    doubled,
  );
  const { count } = await read('connections', '/connections/count');
  for (const total of [count, list.pagination.totalCount]) {
    if (total < connected.length) lost.push(`a total is ${total}, not ${connected.length}`);
    if (total > connected.length) doubled.push(`a total is ${total}, not ${connected.length}`);
  }
  for (const [path, by] of [
    ['sent', 'me'],
    ['received', 'other'],
  ] as const) {
    const { requests, pagination } = await read('connections', `/connections/pending/${path}?limit=100`);
    const waiting = standing('pending', by);
    const users = (requests as { user: { id: string; name: string } }[]).map(({ user }) => shown(user));
    compareSets(`requests ${path}`, users, waiting, lost, doubled);
    if (pagination.totalCount !== waiting.length)
      lost.push(`a total of requests is ${pagination.totalCount}, not ${waiting.length}`);
  }

  const told = new Map<string, number>();
  for (let page = 1, hasMore = true; hasMore; page++) {
    const { data, pagination } = await read('notifications', `/app-notifications?limit=50&page=${page}`);
    for (const { type, metadata } of data) {
      const what = `${type} ${metadata.connectionId}`;
      told.set(what, (told.get(what) ?? 0) + 1);
    }
    hasMore = pagination.hasMore;
  }
  for (const pair of mine) {
    const events = log.of('connection', pair.id);
    const withdrawn = new Set(
      events
        .filter(({ type }) => type === 'connection.withdrawn')
        .map(({ data }) => (data as { connectionId: string }).connectionId),
    );
    for (const { type, data } of events) {
      const { connectionId, requesterId, receiverId } = data as { [name: string]: string };
      const what =
        type === 'connection.requested' && receiverId === person.id
          ? `connection-request ${connectionId}`
          : type === 'connection.accepted' && requesterId === person.id
            ? `connection-accepted ${connectionId}`
            : undefined;
      if (!what) continue;
      const times = told.get(what) ?? 0;
      told.delete(what);
      if (times > 1) doubled.push(`${what} was notified ${times} times`);
      // If a request is withdrawn, its unread notification is removed. So the absence of this notification is no loss.
      if (times === 0 && !withdrawn.has(connectionId ?? '')) lost.push(`${what} was not notified`);
    }
  }
  for (const what of told.keys()) doubled.push(`${what} was notified without an event`);
}

/** Looks for the items of `sequence` in `inThis`, in the same order. Returns the first item that is not there. */
function missingOf(sequence: readonly string[], inThis: readonly string[]): string | undefined {
  let at = 0;
  for (const one of sequence) {
    const found = inThis.indexOf(one, at);
    if (found < 0) return one;
    at = found + 1;
  }
  return undefined;
}

function compareSets(
  what: string,
  found: readonly string[],
  wanted: readonly string[],
  lost: string[],
  doubled: string[],
): void {
  const seen = new Set(found);
  if (seen.size !== found.length)
    doubled.push(`${what}: ${found.length} rows, of which ${seen.size} are different`);
  for (const one of wanted) if (!seen.has(one)) lost.push(`${what}: ${one} is missing`);
  for (const one of seen) if (!wanted.includes(one)) doubled.push(`${what}: ${one} should not be there`);
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
