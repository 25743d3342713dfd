import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, caller } from '@kith/platform';
import { createPeople } from '@kith/testing';
import { asker } from './ask.ts';
import { Folder } from './folder.ts';
import type { Key } from './key.ts';
import { Pair } from './pair.ts';
import { Person, type Scene } from './person.ts';
import { Record } from './record.ts';

/** Simulated people who use the API, and remember the answers. */
export interface Crowd {
  scene: Scene;
  people: readonly Person[];
  pairs: readonly Pair[];
  folders: readonly Folder[];
  projectId: string;
  /** Begins a new record, for the next row. */
  begin(bears?: readonly number[]): Record;
  /** Makes `rate` requests per second until the returned function is called. That function then waits for the last answer. */
  load(rate: number, one?: () => Promise<void>, mostUnderWay?: number): () => Promise<void>;
  /** Makes a request about the first person, who is in a pair with every other person. */
  aboutTheFirst(): Promise<void>;
}

/** The largest number of requests that may wait for an answer. While so many requests wait, no new request is made. */
const usualUnderWay = 500;

/**
 * Signs people up, and makes pairs of them. Also makes a `Folder` object for each person; its collection does not exist on the
 * platform yet.
 */
export async function gather(
  url: string,
  options: { operatorToken: string; size: number; random: () => number },
): Promise<Crowd> {
  const { operatorToken, size, random } = options;
  const call: Call = caller(url, { patienceMs: 20_000 });
  const signUp = createPeople(call, operatorToken);
  const { id: projectId } = await signUp.createProject('Faults');
  let record = new Record();
  let names = 0;
  const scene: Scene = {
    ask: asker(url, projectId, () => record),
    record: () => record,
    random,
    name: () => `Name ${++names}`,
  };
  const people: Person[] = [];
  const folders: Folder[] = [];
  for (let index = 0; index < size; index++) {
    const name = scene.name();
    const account = await signUp.createUser(projectId, { name });
    people.push(new Person(scene, { ...account, name }));
    const root = await call<{ id: string }>('GET', `/v7/${projectId}/collections/root`, {
      token: account.accessToken,
    });
    folders.push(new Folder(scene, people.at(-1) as Person, root.id));
  }
  const pairs: Pair[] = [];
  // Each person is paired with the next four people, and with the first person.
  for (const [index, one] of people.entries()) {
    const next = [1, 2, 3, 4].map((step) => people[(index + step) % size] as Person);
    pairs.push(...next.map((other) => new Pair(scene, [one, other])));
  }
  const known = new Set(pairs.map(({ id }) => id));
  const withTheFirst = people.slice(1).map((other) => new Pair(scene, [people[0] as Person, other]));
  pairs.push(...withTheFirst.filter(({ id }) => !known.has(id)));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const free = <T extends Key>(from: readonly T[]): T | undefined => {
    const first = pick(from);
    return first.isFree ? first : from.find((one) => one.isFree);
  };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })).toString('base64');
  const signTestToken = async () => {
    const body = { projectId, privateKey: pem, payload: { id: 'somebody' } };
    const answer = await scene.ask('crypto', 'POST', '/crypto/sign-testing-jwt', { body });
    if (answer.isCertain && !answer.isOk && answer.status !== 503)
      record.wrong.push(`a test token: ${answer.status}`);
  };
  let made = 0;
  const one = (): Promise<void> => {
    // These requests come at even intervals, because there are few of them. At random intervals, two of them could be seconds
    // apart, and the record would add this time to a silence.
    if (made++ % 20 === 0) return signTestToken();
    const chance = random();
    if (chance < 0.25) return pick(people).readConnections();
    if (chance < 0.4) return pick(people).readFeed();
    // Does not use a key that is busy, or whose last change may still be made. If no key is free, only reads data of the same
    // service. Otherwise the service might get no requests for a while, and the record could count this pause as a silence.
    if (chance < 0.65) return free(pairs)?.run() ?? pick(people).readConnections();
    if (chance < 0.85) return free(folders)?.run() ?? pick(folders).read();
    return free(people)?.run() ?? pick(people).readProfile();
  };
  const [first] = people as [Person];
  const ofTheFirst = pairs.filter((pair) => pair.people.includes(first));
  const aboutTheFirst = () => {
    const chance = random();
    const token = pick(people).accessToken;
    const path = `/users/${first.id}/connections`;
    if (chance < 0.5) return scene.ask('connections', 'GET', path, { token }).then(() => {});
    if (chance < 0.7) return scene.ask('connections', 'GET', `${path}-count`, { token }).then(() => {});
    return free(ofTheFirst)?.run() ?? first.readConnections();
  };
  return {
    scene,
    people,
    pairs,
    folders,
    projectId,
    begin(bears = []) {
      record = new Record();
      record.bears = bears;
      return record;
    },
    aboutTheFirst,
    load(rate, make = one, mostUnderWay = usualUnderWay) {
      const underWay = new Set<Promise<void>>();
      let sent = 0;
      const from = performance.now();
      const timer = setInterval(() => {
        const due = ((performance.now() - from) / 1000) * rate;
        for (; sent < due; sent++) {
          if (underWay.size >= mostUnderWay) continue;
          const work = make();
          underWay.add(work);
          void work.finally(() => underWay.delete(work));
        }
      }, 5);
      return async () => {
        clearInterval(timer);
        while (underWay.size > 0) await sleep(20);
      };
    },
  };
}
