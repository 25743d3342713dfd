import { isDeepStrictEqual } from 'node:util';
import { untilMade } from '@kith/base';
import type { Documents, Stored } from '@kith/store';
import { attempts } from './collections/sign-in.ts';
import { userKey, within } from './keys-of.ts';
import { type Attempt, type Failures, renewMs } from './records.ts';

/** How many clients of an account are read at a time. */
const batch = 1_000;

/** The stored failures before and after a failure was counted. */
interface CountedFailure {
  before: Failures | null;
  after: Failures | null;
}

/**
 * Counts failed attempts to sign in. The failures of all clients that an account does not know ("strangers") are counted
 * together, by e-mail address. Each client that the account knows has a count of its own. Wrong second factors are counted in
 * the same way, but under other ids.
 */
export class Attempts {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async find(id: string): Promise<Attempt | null> {
    return (await this.#read(id))?.doc ?? null;
  }

  /**
   * Counts a failure: stores the state that `next` returns, and returns the states before and after. Throws as `untilMade`
   * does.
   */
  async fail(
    id: string,
    next: (before: Failures | null) => Failures,
    deadline?: number,
  ): Promise<CountedFailure> {
    const counted: CountedFailure = { before: null, after: null };
    await this.#change(id, deadline, (doc) => {
      counted.before = doc?.failures ?? null;
      counted.after = next(counted.before);
      return { signedInAt: doc?.signedInAt ?? null, failures: counted.after };
    });
    return counted;
  }

  /** Undoes `fail`, unless the failures have changed since then. Throws as `untilMade` does. */
  takeBack(id: string, { before, after }: CountedFailure, deadline?: number): Promise<void> {
    return this.#change(id, deadline, (doc) =>
      doc && isDeepStrictEqual(doc.failures, after) ? { ...doc, failures: before } : null,
    );
  }

  /**
   * Records that a client has signed in to an account. Nothing changes if an earlier sign-in of this client was recorded less
   * than `renewMs` ago. Throws as `untilMade` does.
   */
  signedIn(id: string, at: number, deadline?: number): Promise<void> {
    return this.#change(id, deadline, (doc) => {
      if (doc?.signedInAt != null && at - doc.signedInAt < renewMs) return null;
      return { signedInAt: at, failures: doc?.failures ?? null };
    });
  }

  /** Records that a client has passed a second factor, and forgets its failures. Throws as `untilMade` does. */
  passed(id: string, at: number, deadline?: number): Promise<void> {
    return this.#change(id, deadline, (doc) => {
      if (doc?.signedInAt != null && !doc.failures && at - doc.signedInAt < renewMs) return null;
      return { signedInAt: at, failures: null };
    });
  }

  /** Forgets the failures that are counted for all strangers together. */
  async forgetShared(id: string): Promise<void> {
    await this.#documents.erase(attempts, id);
  }

  /** Forgets the failures of the clients that an account knows. Wrong second factors stay counted. */
  async forgive(projectId: string, userId: string): Promise<void> {
    const found = await this.#documents.range(attempts, { ...within(projectId, userId), limit: batch });
    for (const { id, doc } of found) {
      if (doc.failures) await this.#change(id, undefined, (now) => now && { ...now, failures: null });
    }
  }

  /**
   * Forgets three things of an account: the clients that it knows, their failures, and all failures with its second factors.
   */
  async forgetClients(projectId: string, userId: string): Promise<void> {
    await this.#forgetAll(within(projectId, userId));
    await this.forgetFactors(projectId, userId);
  }

  /** Forgets all failures with second factors of an account, and the clients that have passed one. */
  forgetFactors(projectId: string, userId: string): Promise<void> {
    return this.#forgetAll(within(factorPlaces, projectId, userId));
  }

  async #forgetAll(range: { above: string; below: string }): Promise<void> {
    for (;;) {
      const found = await this.#documents.range(attempts, { ...range, limit: batch });
      await this.#documents.eraseAll(attempts, found);
      if (found.length < batch) return;
    }
  }

  #change(
    id: string,
    deadline: number | undefined,
    next: (doc: Attempt | undefined) => Attempt | null | undefined,
  ): Promise<void> {
    const attempt = async () => {
      const read = await this.#read(id);
      const set = next(read?.doc);
      if (!set) return { result: undefined };
      const [outcome] = await this.#documents.change([{ in: attempts, target: read ?? id, set }]);
      return outcome === 'made' ? { result: undefined } : undefined;
    };
    return untilMade(attempt, { deadline });
  }

  async #read(id: string): Promise<Stored<Attempt> | undefined> {
    return (await this.#documents.get(attempts, [id])).get(id);
  }
}

/**
 * If strangers fail to sign in with an e-mail address, their attempts are counted under this id. `hash` is a hash of the
 * address.
 */
export function addressPlace(hash: string): string {
  // No project has the id `addresses`, so this id differs from every `clientPlace`.
  return `addresses|${hash}`;
}

/** The id under which an account's known client and the client's failures are stored. `hash` is a hash of the client. */
export function clientPlace(
  { projectId, userId }: { projectId: string; userId: string },
  hash: string,
): string {
  return `${userKey(projectId, userId)}|${hash}`;
}

/**
 * The prefix of the ids under which wrong second factors are counted. No project has the id `factors`, so these ids differ
 * from every `clientPlace`.
 */
const factorPlaces = 'factors';

/**
 * The id under which wrong second factors of a user are counted. With the hash of a client, returns the id for this client.
 * Without a hash, returns the id that is shared by all clients that have not passed a second factor.
 */
export function factorPlace(
  { projectId, userId }: { projectId: string; userId: string },
  hash = 'others',
): string {
  return `${factorPlaces}|${userKey(projectId, userId)}|${hash}`;
}
