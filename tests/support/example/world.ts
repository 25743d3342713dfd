import { createOperatorClient } from '@kith/client/operator';
import { startPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { buildApp } from './serve-app.ts';
import { type Account, type Visitor, visit } from './visitor.ts';

/** The example application on a platform of its own, with some people who have already signed up. */
export interface ExampleWorld extends AsyncDisposable {
  platform: TestPlatform;
  projectId: string;
  alan: TestUser;
  edith: TestUser;
  hedy: TestUser;
  joan: TestUser;
  /** Opens the application in a fresh browser. */
  open(options?: BrowserContextOptions): Promise<Visitor>;
  /** Sends a request to connect from `from` to another user, without a browser. */
  ask(from: TestUser, username: string, message: string): Promise<void>;
  /** Imports new people with these names, and connects each of them with the user. */
  befriend(user: TestUser, names: readonly string[]): Promise<void>;
}

const profiles = [
  ['Alan', 'Manchester', 'Asks machines good questions.'],
  ['Edith', 'Sydney', 'Counts everything twice, to be sure.'],
  ['Hedy', 'Vienna', 'Hops between frequencies before lunch.'],
  ['Joan', 'Boston', 'Takes notes that others can read.'],
  ['Tim', 'Geneva', 'Links things to other things.'],
] as const;

/** Starts only the embedded form, because pages get the same HTTP from both forms. */
export async function startExample(browser: Browser): Promise<ExampleWorld> {
  await using starting = new AsyncDisposableStack();
  const [built, platform] = await Promise.all([buildApp(), startPlatform()]);
  starting.use(built);
  starting.use(platform);
  const { id: projectId } = platform.project;
  const [alan, edith, hedy, joan] = (await Promise.all(
    profiles.map(([name, location, bio]) =>
      platform.createUser({
        name: `${name} Demo`,
        username: `${name.toLowerCase()}.demo`,
        location,
        bio,
      }),
    ),
  )) as [TestUser, TestUser, TestUser, TestUser, TestUser];
  const { url } = starting.use(await built.serve({ url: platform.url, projectId }));
  const operators = createOperatorClient({ url: platform.url, token: platform.operatorToken });
  await operators.projects.update({ projectId, mailLinkBase: new URL('#/mail', url).href });
  const undo = starting.move();
  return {
    platform,
    projectId,
    alan,
    edith,
    hedy,
    joan,
    open: (options = {}) => visit(browser, { app: url, api: platform.url, ...options }),
    async ask({ accessToken: token }, username, message) {
      const scope = `/v7/${projectId}/users`;
      const { id } = await platform.call<{ id: string }>('GET', `${scope}/by-username?username=${username}`);
      await platform.call('POST', `${scope}/${id}/connection`, { token, body: { message } });
    },
    async befriend({ id: receiverId }, names) {
      const operator = createOperatorClient({ url: platform.url, token: platform.operatorToken });
      const people = names.map((name) => ({ name, foreignId: name }));
      await operator.users.import({ projectId, rows: people });
      const requestedAt = new Date().toISOString();
      const rows = names.map((requesterForeignId) => ({ requesterForeignId, receiverId, requestedAt }));
      const { imported } = await operator.connections.import({ projectId, rows });
      if (imported !== names.length) throw new Error(`Only ${imported} connections were imported.`);
    },
    [Symbol.asyncDispose]: () => undo.disposeAsync(),
  };
}

/** The data with which somebody signs up. `tag` makes the account unique. */
export function accountOf(name: string, tag: string): Account {
  const username = `${name.toLowerCase()}.${tag}`;
  return {
    name: `${name} Demo`,
    username,
    email: `${username}@example.com`,
    password: 'correct horse battery',
  };
}
