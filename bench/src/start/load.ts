import { join } from 'node:path';
import { caller } from '@kith/platform';
import { createPeople } from '@kith/testing';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad, type Loaded } from '../load/wrk.ts';
import type { Asked } from '../population.ts';
import { signingBody } from './probes.ts';

const users = 20;

/** Sends requests to every service through the gateway, equally often for each of six operations. */
export async function loadAll(
  url: string,
  options: { wrk: string; operatorToken: string; seconds: number; folder: string },
): Promise<Loaded> {
  const { wrk, operatorToken, seconds, folder } = options;
  const people = createPeople(caller(url, { patienceMs: 10_000 }), operatorToken);
  const project = await people.createProject('Bench');
  const made = await Promise.all(Array.from({ length: users }, () => people.createUser(project.id)));
  const [first, ...others] = made;
  if (!first) throw new Error('There are no users.');
  for (const other of others) await people.connect(other, first);
  const scope = `/${project.id}`;
  const signing = signingBody(project.id);
  const targets = [
    () => ({ path: `${scope}/connections?page=1&limit=20` }),
    ({ person }: Asked) => ({ path: `${scope}/users/${person.userId}` }),
    () => ({ path: `${scope}/connections/count` }),
    () => ({ path: `${scope}/app-notifications` }),
    () => ({ path: `${scope}/collections/root` }),
    () => ({ method: 'POST', path: `${scope}/crypto/sign-testing-jwt`, body: signing }),
  ];
  const asked = made.flatMap(({ id, projectId, accessToken }) =>
    targets.map(
      (): Asked => ({ person: { userId: id, projectId, token: accessToken }, address: '10.7.0.1' }),
    ),
  );
  const requests = writeRequests(join(folder, 'start.requests'), asked, (one, at) =>
    (targets[at % targets.length] as (typeof targets)[number])(one),
  );
  // The beginning of an answer is not checked, because it differs: some answers are objects, and some are lists.
  const expected = { length: 0, front: '' };
  return closedLoad({ wrk, url, requests, seconds, connections: 32, expected });
}
