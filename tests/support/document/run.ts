import type { TestPlatform } from '@kith/testing';
import fc from 'fast-check';
import { makeServerKey } from '../surface/suite.ts';
import { described } from './described.ts';
import { wrongWith } from './judge.ts';
import { type Made, requestsOf } from './requests.ts';
import { agent, send, written } from './send.ts';
import { makeSomebody, type Somebody } from './world.ts';

/** Slow operations: for example, they hash a password or make a key. Only every tenth round of requests includes them. */
const slow = new Set([
  'identity.sign-up',
  'identity.sign-in',
  'identity.change-password',
  'identity.set-password',
  'identity.rotate-keys',
  'identity.delete-user',
  'identity.export-user',
  'identity.delete-project',
]);
const slowShare = 0.1;
/** Operations that delete or close a project. Each call of such an operation gets a new project. */
const closing = new Set(['identity.delete-project', 'identity.update-project']);
const batch = 40;
const atOnce = 8;
/** After this many requests a worker makes a new user, because some requests delete the user's things. */
const lifetime = 150;

export interface Found {
  operation: string;
  what: string;
  example: string;
}

export interface Outcome {
  sent: number;
  /** How many answers came, by operation and status. */
  answers: Map<string, Map<number, number>>;
  found: Map<string, Found>;
}

/**
 * Makes `count` requests from the document, sends them, and checks whether the answers follow the document. The same seed makes
 * the same requests.
 */
export async function sendFromDocument(
  platform: TestPlatform,
  { count, seed }: { count: number; seed: number },
): Promise<Outcome> {
  const outcome: Outcome = { sent: 0, answers: new Map(), found: new Map() };
  const next = requestStream(seed);
  const { id: projectId } = await platform.createProject();
  const serverKey = await makeServerKey(platform, projectId);
  const [friend, asker] = [await platform.createUser(projectId), await platform.createUser(projectId)];
  await using _ = { [Symbol.asyncDispose]: async () => agent.destroy() };
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      let somebody: Somebody | undefined;
      let age = 0;
      while (outcome.sent < count) {
        outcome.sent++;
        const made = next();
        if (!somebody || age++ >= lifetime) {
          somebody = await makeSomebody(platform, { friend, asker });
          age = 0;
        }
        const isOver = await judge(platform, made, { ...somebody, serverKey }, outcome);
        if (isOver) somebody = undefined;
      }
    }),
  );
  return outcome;
}

/** Requests of all operations in turn. */
function requestStream(seed: number): () => Made {
  const queues = described.map((one) => ({ one, waiting: [] as Made[], round: 0 }));
  let at = 0;
  let turn = 0;
  return () => {
    for (;;) {
      const queue = queues[at++ % queues.length]!;
      if (at % queues.length === 0) turn++;
      if (slow.has(queue.one.id) && turn % (1 / slowShare) !== 0) continue;
      if (queue.waiting.length === 0) {
        queue.waiting = fc.sample(requestsOf(queue.one), { numRuns: batch, seed: seed + queue.round++ });
      }
      return queue.waiting.pop()!;
    }
  };
}

/** Judges an answer. Resolves with `true` if the worker needs a new user. */
async function judge(
  platform: TestPlatform,
  made: Made,
  somebody: Somebody & { serverKey: string },
  { answers, found }: Outcome,
): Promise<boolean> {
  const { id } = made.described;
  const things = closing.has(id) ? { projectId: (await platform.createProject()).id } : somebody.things;
  const { operatorToken } = platform;
  const { serverKey } = somebody;
  const sent = written(made, { ...somebody, things }, { operatorToken, serverKey });
  const answer = await send(platform.url, sent, id.endsWith('.stream'));
  const counts = answers.get(id) ?? new Map<number, number>();
  answers.set(id, counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1));
  const what = wrongWith(made, answer);
  if (what && !found.has(`${id} ${what}`)) {
    const body = typeof sent.body === 'string' ? sent.body.slice(0, 400) : '';
    const example = `${sent.method} ${sent.path.slice(0, 300)} ${JSON.stringify(sent.headers).slice(0, 300)} ${body} → ${answer.status} ${answer.text.slice(0, 300)}`;
    found.set(`${id} ${what}`, { operation: id, what, example });
  }
  if (made.asker !== 'known') return false;
  // Status 401 means that the user's session has ended. The user's account may have been deleted, too.
  return answer.status === 401 && made.scheme === 'userToken';
}
