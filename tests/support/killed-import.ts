import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connection, type OwnUser, rebuildConnectionsProfiles, type Session } from '@kith/contracts';
import type { TestPlatform } from '@kith/testing';
import { hashSync } from 'bcryptjs';
import { expect } from 'vitest';
import { accessOf, longResult, runKith, type Said, startKith } from './command.ts';
import { type GateStage, layGate } from './gate.ts';

/** The moment when an import is killed: request number `request` of the kind `of` reaches the stage `stage`. */
export interface Kill {
  of: 'users' | 'copies' | 'connections';
  request: number;
  stage: GateStage;
}

type Platform = Pick<TestPlatform, 'url' | 'operatorToken' | 'createProject' | 'call'>;

interface Size {
  /** How many lines each file has. */
  lines: number;
  /** How many users ask other users to connect. */
  askers: number;
  /** The length of a line after padding with blanks. The longer the lines are, the fewer lines fit into a request. */
  width?: number;
}

const names = ['users', 'connections'] as const;
const password = 'correct horse battery';
const passwordHash = hashSync(password, 4);
const at = (row: number) => new Date(1_600_000_000_000 + row * 1000).toISOString();

/**
 * Imports the same files into two projects. The first project gets them in a single run. The second project gets one run for each of
 * `kills`, and a last run that reaches the end. SIGKILL ends each run of `kills` at the moment that `Kill` describes. Expects both
 * projects to contain the same data, and both imports to report the same.
 */
export async function expectKilledImportToEndAlike(
  platform: Platform,
  folder: string,
  options: Size & { kills: readonly Kill[] },
): Promise<void> {
  const { kills, lines } = options;
  const [whole, killed] = await Promise.all(
    ['whole', 'killed'].map((name) => prepare(platform, join(folder, name), options)),
  );
  if (!whole || !killed) throw new Error('A project is missing.');
  const wanted = await runKith(whole.words, whole.env);
  expect([wanted.code, wanted.stderr]).toEqual([1, expect.stringContaining('lines-rejected')]);

  const reached = { users: 0, connections: 0 };
  for (const kill of kills) {
    await runUntil(platform, killed, kill);
    const [users, connections] = await Promise.all(names.map((name) => stateOf(killed.folder, name)));
    if (kill.of === 'copies') {
      expect([users?.line, users?.copiedLine, connections]).toEqual([lines, 0, undefined]);
      continue;
    }
    const { line = 0 } = (kill.of === 'users' ? users : connections) ?? {};
    // The command sends at most eight requests before it records its first answer. So a run that is killed at its ninth request
    // or later has recorded more lines than the run that it continued. Lines are recorded in order. A run that is killed when
    // it gets its third answer (`told`) may have recorded nothing, because the answer to its first request may come later.
    expect(line).toBeGreaterThan(reached[kill.of] - Number(kill.stage === 'told'));
    expect(line).toBeLessThan(lines);
    reached[kill.of] = line;
  }
  const last = await runKith(killed.words, killed.env);
  expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('lines-rejected')]);

  expect(inAll(last)).toEqual(inAll(wanted));
  for (const name of names) {
    const rejected = await readFile(rejectedFile(whole.folder, name), 'utf8');
    expect(rejected).not.toBe('');
    expect(await readFile(rejectedFile(killed.folder, name), 'utf8')).toBe(rejected);
  }
  const held = await readProject(platform, whole.projectId, options);
  const isGood = (_: unknown, row: number) => !isBadUser(row);
  expect(held.users).toHaveLength(Array.from({ length: lines }).filter(isGood).length);
  expect(held.connections).toHaveLength((lines / 4) * (49 / 50));
  expect(held.found).toContain(`u${options.askers}`);
  expect(await readProject(platform, killed.projectId, options)).toEqual(held);
}

/** A pattern for the progress that `kith import` prints while it runs. */
export const importProgress = /^((users|connections|collections|entities): \d+ lines, \d+ %\n)*$/;

interface Prepared {
  folder: string;
  projectId: string;
  words: string[];
  env: NodeJS.ProcessEnv;
}

async function prepare(platform: Platform, folder: string, options: Size): Promise<Prepared> {
  const { lines, width = 0 } = options;
  await mkdir(folder);
  const { id: projectId } = await platform.createProject();
  const rows = Array.from({ length: lines }, (_, row) => row);
  const write = (name: string, of: (row: number) => object) =>
    writeFile(
      join(folder, `${name}.jsonl`),
      rows.map((row) => `${JSON.stringify(of(row)).padEnd(width)}\n`).join(''),
    );
  await write('users', userOf);
  await write('connections', (row) => connectionOf(row, options));
  const words = ['import', '--project', projectId, '--json'];
  return {
    ...{ folder, projectId },
    words: [...words, ...names.flatMap((name) => [`--${name}`, `${name}.jsonl`])],
    env: { ...accessOf(platform), KITH_CWD: folder },
  };
}

// Rows with different faults. The command itself refuses malformed rows, and the platform refuses the other wrong rows.
const isMalformed = (row: number) => row % 50 === 47;
const isTaken = (row: number) => row % 50 === 48;
const isBadUser = (row: number) => isMalformed(row) || isTaken(row);
const isForNobody = (row: number) => row % 50 === 49;

function userOf(row: number): object {
  const email = isMalformed(row) ? 'nonsense' : isTaken(row) ? 'u0@example.com' : `u${row}@example.com`;
  return {
    ...{ foreignId: `u${row}`, username: `user.${row}`, name: `No ${row}`, email, createdAt: at(row) },
    ...(row === 0 && { passwordHash }),
  };
}

/**
 * The first `askers` users send requests to the other users. Every pair comes four times, each time with another combination of
 * `connectedAt` and `state`.
 */
function connectionOf(row: number, { lines, askers }: Size): object {
  const pair = row % (lines / 4);
  const round = Math.floor(row / (lines / 4));
  const other = askers + pair;
  const receiver = other - (isBadUser(other) ? 5 : 0);
  return {
    requesterForeignId: `u${pair % askers}`,
    receiverForeignId: isForNobody(row) ? 'nobody' : `u${receiver}`,
    requestedAt: at(pair),
    ...(round % 2 === 1 && { connectedAt: at(pair) }),
    ...(round > 1 && { state: 'accepted' }),
  };
}

async function runUntil(platform: Platform, { words, env }: Prepared, kill: Kill): Promise<void> {
  const isOfKind = (path: string) =>
    kill.of === 'copies' ? path === rebuildConnectionsProfiles.path : path.endsWith(`/import/${kill.of}`);
  // If the platform is too slow, the command sends the same request again. Here, both attempts count as one request.
  const seen = new Set<string>();
  let isDead = false;
  await using gate = await layGate(platform.url, ({ path, body, stage }) => {
    if (!isDead && stage === kill.stage && isOfKind(path))
      isDead = seen.add(path + body).size === kill.request;
    if (isDead) running.kill();
    return isDead;
  });
  const running = startKith(words, { ...env, KITH_URL: gate.url });
  const { code, stderr } = await running.ended;
  expect([kill, code, stderr]).toEqual([kill, null, '']);
}

async function stateOf(
  folder: string,
  name: string,
): Promise<{ line: number; copiedLine: number } | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, `${name}.jsonl.kith-import.json`), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

const rejectedFile = (folder: string, name: string) => join(folder, `${name}.jsonl.rejected.jsonl`);

/**
 * How many lines were taken and rejected. A run can be killed before it learns that a row was imported. The next run then
 * reports this row as unchanged. So `taken` is the sum of the imported and the unchanged rows.
 */
function inAll(said: Said): object[] {
  const { files } = longResult<{ files: { inAll: Record<string, number> }[] }>(said);
  return files.map(({ inAll: { lines, imported = 0, unchanged = 0, rejected } }) => ({
    ...{ lines, rejected },
    taken: imported + unchanged,
  }));
}

interface ConnectionPage {
  connections: Connection[];
  pagination: { hasNextPage: boolean };
}

/** What a project contains, without ids. Ids differ between projects. */
async function readProject(platform: Platform, projectId: string, { askers }: Size) {
  const users: OwnUser[] = [];
  for (let page = 1, hasMore = true; hasMore; page++) {
    const list = await platform.call<{ data: OwnUser[]; pagination: { hasMore: boolean } }>(
      'GET',
      `/admin/projects/${projectId}/users?limit=100&page=${page}`,
      { token: platform.operatorToken },
    );
    users.push(...list.data);
    hasMore = list.pagination.hasMore;
  }
  const connections: object[] = [];
  for (let user = 0; user < askers; user++) {
    const { id } = users.find(({ foreignId }) => foreignId === `u${user}`) ?? {};
    for (let page = 1, hasMore = true; hasMore; page++) {
      const list = await platform.call<ConnectionPage>(
        'GET',
        `/v7/${projectId}/users/${id}/connections?limit=100&page=${page}`,
      );
      connections.push(...list.connections.map((one) => withoutIds(user, one)));
      hasMore = list.pagination.hasNextPage;
    }
  }
  const { accessToken: token } = await platform.call<Session>('POST', `/v7/${projectId}/auth/sign-in`, {
    body: { email: 'u0@example.com', password },
  });
  // A search reads only the copies of profiles that the connections service keeps. So it shows whether the import made the
  // copies.
  const found = await platform.call<{ connections: Connection[] }>(
    'GET',
    `/v7/${projectId}/connections?query=user.${askers}`,
    { token },
  );
  return {
    users: users.map(({ id: _, projectId: __, ...user }) => user),
    connections,
    found: found.connections.map(({ connectedUser }) => connectedUser.foreignId),
  };
}

function withoutIds(of: number, { id: _, connectedUser, ...connection }: Connection): object {
  return { of, with: connectedUser.foreignId, ...connection };
}
