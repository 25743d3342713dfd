// The script of the page in `browser.test.ts`, which bundles it.
import { createClient, type KithClient, localStorageSession } from '../../src/index.ts';
import { type BehaviourName, behaviours } from './behaviours.ts';
import type { Control } from './control.ts';

type Place = { url: string; projectId: string };

interface TestPage {
  /** Calls a function of `Control` in the test's process. `url` is the address of the `World` to which the function belongs. */
  control(url: string, name: string, args: unknown[]): Promise<unknown>;
  run(name: BehaviourName, at: Place): Promise<unknown>;
  /** Sets `kith` to a new client, whose session all tabs share. */
  open(at: Place): void;
  kith: KithClient;
  /** The reasons for the session's changes, in order. */
  reasons: string[];
}

const page = globalThis as unknown as TestPage;
const controlOf = ({ url }: Place) =>
  new Proxy({} as Control, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        page.control(url, String(name), args),
  });
page.run = (name, at) => behaviours[name]({ ...at, control: controlOf(at) });
page.open = (at) => {
  page.reasons = [];
  const onSession = (_: unknown, { reason }: { reason: string }) => page.reasons.push(reason);
  page.kith = createClient({ ...at, session: localStorageSession('kith'), onSession });
};
