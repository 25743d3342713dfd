import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { noteComplaints, openPage } from '../pages.ts';

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 800 };

/** A person with their own browser, and the errors in this browser. */
export interface Visitor extends AsyncDisposable {
  page: Page;
  /** Errors and warnings of the console, failures of scripts, requests to third parties. */
  complaints: string[];
  /** Opens another tab of the same browser. */
  newTab(): Promise<Page>;
  button(name: string | RegExp): Locator;
  /** Goes to one of the pages of the navigation. */
  goTo(label: 'People' | 'Connections' | 'Folders' | 'Notifications' | 'Account'): Promise<void>;
}

/** Opens the application in a fresh browser. */
export async function visit(
  browser: Browser,
  { app, api, ...options }: { app: string; api: string } & BrowserContextOptions,
): Promise<Visitor> {
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  const newTab = async () => {
    const page = await context.newPage();
    noteComplaints(page, complaints);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      const known = [new URL(app).origin, new URL(api).origin];
      if (protocol !== 'data:' && !known.includes(origin)) complaints.push(`elsewhere: ${origin}`);
    });
    await openPage(page, app);
    return page;
  };
  const page = await newTab();
  return {
    page,
    complaints,
    newTab,
    button: (name) => page.getByRole('button', { name, exact: typeof name === 'string' }),
    goTo: (label) =>
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: label }).click(),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Fills in the form of a new account and sends it. */
export async function signUp(visitor: Visitor, person: Account): Promise<void> {
  const { page } = visitor;
  await visitor.button('Create an account').click();
  await page.getByLabel('Name', { exact: true }).fill(person.name);
  await page.getByLabel('Username').fill(person.username);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await visitor.button('Create account').click();
  await page.getByRole('heading', { name: 'Find people' }).waitFor();
}

export async function signIn(
  visitor: Visitor,
  { email, password }: Pick<Account, 'email' | 'password'>,
): Promise<void> {
  const { page } = visitor;
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await visitor.button('Sign in').click();
}

export interface Account {
  name: string;
  username: string;
  email: string;
  password: string;
}
