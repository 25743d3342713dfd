import { randomBytes } from 'node:crypto';
import { StartError } from '@kith/base';
import type { Collection, Project, Session } from '@kith/contracts';
import type { DataFolder } from '../forms/data-folder.ts';
import { answering, type Call, CallError, caller } from './api.ts';
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
 * users can no longer sign in: somebody may have stored data in its project. Signs in both users, and writes `start.json` into
 * the data folder, with mode 0600.
 *
 * @param stateName The name of the file that remembers the demo. Each form of the platform has its own file, so both forms can
 * use the same folder.
 */
export async function ensureDemo(
  folder: DataFolder,
  options: { url: string; adminUrl?: string | undefined; operatorToken: string; stateName: string },
): Promise<Demo> {
  const { url, adminUrl = url, operatorToken, stateName } = options;
  // If the platform was just started, perhaps its gateway does not listen yet, and its services are still starting.
  await answering(url, 30_000);
  const patience = { patienceMs: 30_000 };
  const call = caller(url, patience);
  const administer = caller(adminUrl, patience);
  const earlier = folder.read(stateName);
  const demo = await resumeOrMake(call, { earlier, operatorToken, administer });
  const start = { ...demo.start, url, operatorToken };
  const content = `${JSON.stringify(start, null, 2)}\n`;
  folder.write(stateName, content);
  folder.write('start.json', content);
  return { ...demo, start };
}

async function resumeOrMake(
  call: Call,
  {
    earlier,
    operatorToken,
    administer,
  }: { earlier: string | undefined; operatorToken: string; administer: Call },
): Promise<Demo> {
  try {
    const resumed = earlier && (await resume(call, JSON.parse(earlier) as StartFile));
    return resumed || { start: await make(call, { operatorToken, administer }), notices: [] };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw new StartError(`The demo project could not be created (${error.message}); see the log.`, {
      cause: error,
    });
  }
}

/** Signs in the users of an earlier demo. Returns `undefined` if the project is gone. */
async function resume(call: Call, file: StartFile): Promise<Demo | undefined> {
  const { projectId } = file;
  try {
    const tries = await Promise.all(file.users.map((user) => signIn(call, projectId, user)));
    const notices = tries.flatMap(({ notice }) => notice ?? []);
    if (notices.length > 0) notices.push(beginAnewNotice(projectId));
    return { start: { ...file, users: tries.map(({ user }) => user) }, notices };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function signIn(
  call: Call,
  projectId: string,
  user: DemoUser,
): Promise<{ user: DemoUser; notice?: string }> {
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

async function make(
  call: Call,
  { operatorToken, administer }: { operatorToken: string; administer: Call },
): Promise<StartFile> {
  const { id: projectId } = await administer<Project>('POST', '/admin/projects', {
    token: operatorToken,
    body: { name: 'Demo' },
  });
  const users: StartFile['users'] = [];
  for (const profile of people) {
    const email = `${profile.username.replace('.demo', '')}@example.com`;
    const password = randomBytes(12).toString('base64url');
    const body = { ...profile, email, password };
    const { user, accessToken } = await call<Session>('POST', `/v7/${projectId}/auth/sign-up`, { body });
    users.push({ id: user.id, email, password, accessToken });
  }
  const [ada, grace] = users as [DemoUser, DemoUser];
  const request = await call<{ id: string }>('POST', `/v7/${projectId}/users/${grace.id}/connection`, {
    token: ada.accessToken,
    body: { message: 'Hello Grace, shall we connect?' },
  });
  await call('PATCH', `/v7/${projectId}/connections/${request.id}/accept`, { token: grace.accessToken });
  const root = await call<Collection>('GET', `/v7/${projectId}/collections/root`, { token: ada.accessToken });
  const collection = await call<Collection>(
    'POST',
    `/v7/${projectId}/collections/${root.id}/sub-collections`,
    {
      token: ada.accessToken,
      body: { collectionName: 'Reading list' },
    },
  );
  return { url: '', projectId, operatorToken, users, collectionId: collection.id };
}
