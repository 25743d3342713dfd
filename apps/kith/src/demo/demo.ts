import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '@kith/base';
import type { Collection, Project, Session } from '@kith/contracts';
import type { DataFolder } from '../forms/data-folder.ts';
import { isBusy, lockBy } from '../forms/folder-lock.ts';
import { answering, type Call, CallError, caller, isNowhere } from './api.ts';
import { beginAnewNotice, signInNotice } from './sign-in-notice.ts';

/** The content of `start.json`: all that is needed to try the platform. */
export interface StartFile {
  url: string;
  projectId: string;
  operatorToken: string;
  users: DemoUser[];
  collectionId: string;
}

interface DemoUser {
  id: string;
  email: string;
  password: string;
  /** Empty if the user can no longer sign in. */
  accessToken: string;
}

export interface Demo {
  start: StartFile;
  /** What people should know about the demo: for example, why a user is not let in, and how to change that. */
  notices: string[];
}

const people = [
  {
    username: 'ada.demo',
    name: 'Ada Demo',
    avatar: 'https://example.com/avatars/ada.png',
    bio: 'Writes the first program of every project.',
    location: 'London',
    birthdate: '1990-12-10',
    metadata: { theme: 'dark', languages: ['en', 'fr'] },
  },
  {
    username: 'grace.demo',
    name: 'Grace Demo',
    avatar: 'https://example.com/avatars/grace.png',
    bio: 'Finds the bug, and tapes it into the book.',
    location: 'New York',
    birthdate: '1992-12-09',
    metadata: { theme: 'light', languages: ['en'] },
  },
];

/**
 * Makes sure that there is a demo project with two connected users and a collection. Uses an earlier demo again, even if its
 * users can no longer sign in, because somebody may have stored data in its project. Signs in both users, and writes
 * `start.json` into the data folder, with mode 0600. If rate limits stop this call before the demo is complete, the next call
 * makes the rest.
 *
 * @param stateName The name of the file that records what has been made of the demo. Each form of the platform has its own
 * file, so both forms can use the same folder.
 */
export async function ensureDemo(
  folder: DataFolder,
  options: { url: string; adminUrl?: string | undefined; operatorToken: string; stateName: string },
): Promise<Demo> {
  const { url, adminUrl = url, operatorToken, stateName } = options;
  // If the platform was just started, perhaps its gateway does not listen yet, and its services are still starting.
  await answering(url, 30_000);
  using _lock = await lockDemo(folder);
  // On a busy machine, the first requests may take longer than the gateway waits for a service.
  const patience = { patienceMs: 30_000, isKeyed: true };
  const contentOf = (start: StartFile) => `${JSON.stringify({ ...start, url, operatorToken }, null, 2)}\n`;
  const demo = await resumeOrMake({
    call: caller(url, patience),
    administer: caller(adminUrl, patience),
    earlier: folder.read(stateName),
    operatorToken,
    keep: (start) => folder.write(stateName, contentOf(start)),
  });
  const users = demo.start.users.filter(isMade);
  const start = { ...demo.start, url, operatorToken, users };
  folder.write('start.json', contentOf(start));
  return { ...demo, start };
}

const everyMs = 250;
/** How long to wait for another process that makes the demo, in ms. */
const patienceMs = 60_000;

/**
 * Locks the demo of a folder. A start announces its platform before it makes the demo, so `kith demo` may run at the same time. The
 * two would then make two projects and write the same files. On a file system without locks the demo is made all the same.
 */
async function lockDemo(folder: DataFolder): Promise<Disposable | undefined> {
  for (const until = Date.now() + patienceMs; ; await wait(everyMs)) {
    try {
      // This call must not block the process of a start. In the embedded form, that process also answers the process that makes
      // the demo.
      return lockBy(folder.file('demo.lock'), { waitMs: 0 });
    } catch (error) {
      if (!isBusy(error) || Date.now() > until) return undefined;
    }
  }
}

interface Making {
  call: Call;
  administer: Call;
  operatorToken: string;
  earlier: string | undefined;
  /**
   * Records what has been made of the demo. The id of a user who has not signed up yet is empty. The id of a missing collection
   * is also empty.
   */
  keep(start: StartFile): void;
}

const isMade = ({ id }: DemoUser) => id !== '';

async function resumeOrMake(making: Making): Promise<Demo> {
  const { earlier } = making;
  try {
    const resumed = earlier && (await resume(making, JSON.parse(earlier) as StartFile));
    return resumed || (await complete(making, await begin(making), []));
  } catch (error) {
    // The command line says what to do about a wrong address.
    if (!(error instanceof CallError) || isNowhere(error)) throw error;
    throw new StartError(`The demo project could not be created (${error.message}); see the log.`, {
      cause: error,
    });
  }
}

/** Signs in the users of an earlier demo, and makes what the demo lacks. Returns `undefined` if the project is gone. */
async function resume(making: Making, file: StartFile): Promise<Demo | undefined> {
  const { projectId } = file;
  try {
    const tries = await Promise.all(file.users.map((user) => signIn(making.call, projectId, user)));
    const notices = tries.flatMap(({ notice }) => notice ?? []);
    if (notices.length > 0) notices.push(beginAnewNotice(projectId));
    return await complete(making, { ...file, users: tries.map(({ user }) => user) }, notices);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

interface SignedIn {
  user: DemoUser;
  /** Why the user is not signed in. */
  notice?: string;
}

async function signIn(call: Call, projectId: string, user: DemoUser): Promise<SignedIn> {
  if (!isMade(user)) return { user };
  const { id, email, password } = user;
  const body = { email, password };
  try {
    const { accessToken } = await call<Session>('POST', `/v7/${projectId}/auth/sign-in`, { body });
    return { user: { ...user, accessToken } };
  } catch (error) {
    if (!(error instanceof CallError) || error.status >= 500 || isGone(error)) throw error;
    const { code, sentence } = error;
    const notice = signInNotice({ projectId, id, email, code, sentence });
    return { user: { ...user, accessToken: '' }, notice };
  }
}

function isGone(error: unknown): boolean {
  return error instanceof CallError && error.code === 'project/not-found';
}

/** Makes the project. Chooses the users' passwords, so that they are known even if this process dies after a sign-up. */
async function begin({ administer, operatorToken, keep }: Making): Promise<StartFile> {
  const { id: projectId } = await administer<Project>('POST', '/admin/projects', {
    token: operatorToken,
    body: { name: 'Demo' },
  });
  const users = people.map(({ username }) => ({
    id: '',
    email: `${username.replace('.demo', '')}@example.com`,
    password: randomBytes(12).toString('base64url'),
    accessToken: '',
  }));
  const start = { url: '', projectId, operatorToken, users, collectionId: '' };
  keep(start);
  return start;
}

/**
 * Makes what the demo lacks. If a rate limit refuses a request, adds a notice instead of throwing an error, because the
 * platform itself is up. If a user cannot sign in, makes nothing.
 */
async function complete({ call, keep }: Making, start: StartFile, notices: string[]): Promise<Demo> {
  const isKeptOut = start.users.some((user) => isMade(user) && user.accessToken === '');
  try {
    if (start.collectionId === '' && !isKeptOut) await makeRest(call, start, keep);
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 429) throw error;
    notices.push(`The demo is not complete: ${error.sentence} The next start completes it.`);
  }
  keep(start);
  return { start, notices };
}

/** Continues where an earlier start has stopped. Records in `start` what it has made. */
async function makeRest(call: Call, start: StartFile, keep: Making['keep']): Promise<void> {
  const { projectId, users } = start;
  for (const [index, user] of users.entries()) {
    if (isMade(user)) continue;
    Object.assign(user, await signUp(call, projectId, { ...people[index], ...user }));
    keep(start);
  }
  const [ada, grace] = users as [DemoUser, DemoUser];
  await connect(call, projectId, [ada, grace]);
  const root = await call<Collection>('GET', `/v7/${projectId}/collections/root`, { token: ada.accessToken });
  const collection = await call<Collection>(
    'POST',
    `/v7/${projectId}/collections/${root.id}/sub-collections`,
    {
      token: ada.accessToken,
      body: { collectionName: 'Reading list' },
    },
  );
  start.collectionId = collection.id;
}

/** Creates the account of a demo user. If an earlier start has created the account and died, signs in. */
async function signUp(
  call: Call,
  projectId: string,
  { id: _, accessToken: __, ...body }: DemoUser,
): Promise<Pick<DemoUser, 'id' | 'accessToken'>> {
  const { email, password } = body;
  const auth = `/v7/${projectId}/auth`;
  const { user, accessToken } = await call<Session>('POST', `${auth}/sign-up`, { body }).catch((error) => {
    if (!(error instanceof CallError) || error.status !== 409) throw error;
    return call<Session>('POST', `${auth}/sign-in`, { body: { email, password } });
  });
  return { id: user.id, accessToken };
}

async function connect(call: Call, projectId: string, [ada, grace]: [DemoUser, DemoUser]): Promise<void> {
  const path = `/v7/${projectId}/users/${grace.id}/connection`;
  const token = ada.accessToken;
  const found = await call<{ status: string; connectionId?: string }>('GET', path, { token });
  // If somebody has connected the two users, or has declined the request, the connection stays as it is.
  if (found.status !== 'none' && found.status !== 'pending') return;
  const body = { message: 'Hello Grace, shall we connect?' };
  const id = found.connectionId ?? (await call<{ id: string }>('POST', path, { token, body })).id;
  await call('PATCH', `/v7/${projectId}/connections/${id}/accept`, { token: grace.accessToken });
}
