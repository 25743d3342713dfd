import { type EngineKind, startPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { type BrowserContextOptions, chromium, type LaunchOptions } from 'playwright-core';
import { afterAll } from 'vitest';
import { type BuiltApp, buildApp } from './serve-app.ts';
import { type Account, type Visitor, visit } from './visitor.ts';

/** The example application on a platform of its own, with some people who are there already. */
export interface ExampleWorld extends AsyncDisposable {
  platform: TestPlatform;
  projectId: string;
  alan: TestUser;
  edith: TestUser;
  hedy: TestUser;
  joan: TestUser;
  /** Opens the application in a browser that has not been there before. */
  open(options?: BrowserContextOptions): Promise<Visitor>;
  /** Asks somebody to connect, from elsewhere. */
  ask(from: TestUser, username: string, message: string): Promise<void>;
}

const profiles = [
  ['Alan', 'Manchester', 'Asks machines good questions.'],
  ['Edith', 'Sydney', 'Counts everything twice, to be sure.'],
  ['Hedy', 'Vienna', 'Hops between frequencies before lunch.'],
  ['Joan', 'Boston', 'Takes notes that others can read.'],
  ['Tim', 'Geneva', 'Links things to other things.'],
] as const;

// One build serves all worlds of a suite: who serves it says on which platform it is.
let building: Promise<BuiltApp> | undefined;
afterAll(async () => (await building)?.[Symbol.asyncDispose]());

export async function startExample(engine: EngineKind, browserAt: LaunchOptions): Promise<ExampleWorld> {
  await using starting = new AsyncDisposableStack();
  const browser = await chromium.launch(browserAt);
  starting.defer(() => browser.close());
  building ??= buildApp();
  const built = await building;
  const platform = starting.use(await startPlatform({ engine }));
  const { id: projectId } = await platform.createProject();
  const [alan, edith, hedy, joan] = (await Promise.all(
    profiles.map(([name, location, bio]) =>
      platform.createUser(projectId, {
        name: `${name} Demo`,
        username: `${name.toLowerCase()}.demo`,
        location,
        bio,
      }),
    ),
  )) as [TestUser, TestUser, TestUser, TestUser, TestUser];
  const { url } = starting.use(await built.serve({ url: platform.url, projectId }));
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
    [Symbol.asyncDispose]: () => undo.disposeAsync(),
  };
}

/** What somebody signs up with; `tag` makes it theirs alone. */
export function accountOf(name: string, tag: string): Account {
  const username = `${name.toLowerCase()}.${tag}`;
  return {
    name: `${name} Demo`,
    username,
    email: `${username}@example.com`,
    password: 'correct horse battery',
  };
}
