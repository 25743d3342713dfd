import { ApiError, type Secrets, Turns } from '@kith/base';
import { apart } from '@kith/store';
import { networkOf } from './network-of.ts';
import {
  type Attempts as AttemptStore,
  addressPlace,
  clientKnownMs,
  clientPlace,
  type Failures,
  factorPlace,
  failuresKeptMs,
  renewMs,
} from './store/index.ts';

/** After this many failed attempts within `togetherMs`, further attempts have to wait (spec#accounts-attempts-refused). */
const most = 10;
const togetherMs = 15 * 60_000;
/** The first wait and the longest wait, in ms. Each failure after the first wait doubles the wait. */
const firstWaitMs = 30_000;
const longestWaitMs = 3600_000;

/**
 * Failures at an address are counted under an id (`addressPlace`) that contains this many characters of the address's hash.
 * These characters hold 24 bits, so the table cannot grow without a limit (docs/adr/0049).
 */
const placeCharacters = 4;

/** The account that somebody tries to sign in to, and the client that makes the attempt. */
export interface Attempt {
  projectId: string;
  /** The given e-mail address, lower-cased. There may be no user with this address. */
  address: string;
  /** The user who has the address; null if nobody has it. */
  userId: string | null;
  clientIp: string;
  deadline?: number | undefined;
}

/** The user whose second factor somebody shows, and the client that shows it. */
export type FactorAttempt = Omit<Attempt, 'address' | 'userId'> & { userId: string };

/** Makes the `Attempt` that describes a request. */
export function attemptOf<Whose extends Pick<Attempt, 'address' | 'userId'>>(
  request: { projectId: string; clientIp: string; deadline: number },
  whose: Whose,
): Attempt & Whose {
  const { projectId, clientIp, deadline } = request;
  return { projectId, clientIp, deadline, ...whose };
}

/**
 * Limits the failed attempts at an account, so that nobody can guess its password (spec#accounts-attempts). An account knows
 * the clients from which its user has signed in lately. Each of these clients has a count of its own. All other clients share
 * one count of failures. So no stranger can lock the user out.
 */
export class Attempts {
  readonly #store: AttemptStore;
  readonly #secrets: Pick<Secrets, 'hash'>;
  readonly #now: () => number;
  readonly #turns = new Turns();

  constructor(of: { store: AttemptStore; secrets: Pick<Secrets, 'hash'>; now?: (() => number) | undefined }) {
    this.#store = of.store;
    this.#secrets = of.secrets;
    this.#now = of.now ?? Date.now;
  }

  /**
   * Checks a password, and counts a wrong one as a failed attempt. If too many attempts have failed before, checks nothing.
   * Attempts that share a count are checked one after the other. As a result, simultaneous attempts get no more checks than
   * attempts in a row.
   * @param check Returns whether the password is right. If `check` throws an error, the attempt does not count as failed, and
   * the method throws the same error. The method also throws `auth/too-many-attempts`.
   * @param afterWrong Called after a failure was counted, and before the next attempt. If it returns `true`, the attempt was
   * right after all, and the failure is taken back. If it throws an error, the failure counts, and the method throws the same
   * error.
   */
  async check(
    attempt: Attempt,
    check: () => Promise<boolean>,
    afterWrong?: () => Promise<boolean>,
  ): Promise<boolean> {
    return this.#checkAt(await this.#placeOf(attempt), attempt, check, afterWrong);
  }

  /**
   * Checks a second factor as `check` checks a password, but with other counts (spec#accounts-attempts-factors). A client that
   * has passed a factor of this user has a count of its own. All other clients share one count. So a stranger who knows the
   * password cannot lock the user out. A right factor resets the count that a wrong factor would have increased.
   */
  async checkFactor(attempt: FactorAttempt, check: () => Promise<boolean>): Promise<boolean> {
    const client = this.#factorClientOf(attempt);
    const isKnown = await this.#knows(client);
    const place = isKnown ? client : factorPlace(attempt);
    return this.#checkAt(place, attempt, async () => {
      const isRight = await check();
      if (isRight) {
        await apart(async () => {
          if (!isKnown) await this.#store.forgetShared(place);
          await this.passedFactor(attempt);
        });
      }
      return isRight;
    });
  }

  /** Records that a client has shown a right second factor. */
  async passedFactor(attempt: FactorAttempt): Promise<void> {
    await this.#store.passed(this.#factorClientOf(attempt), this.#now(), attempt.deadline);
  }

  #checkAt(
    place: string,
    { deadline }: Pick<Attempt, 'deadline'>,
    check: () => Promise<boolean>,
    afterWrong?: () => Promise<boolean>,
  ): Promise<boolean> {
    return this.#turns.run([place], async () => {
      refuse((await this.#store.find(place))?.failures ?? null, this.#now());
      if (await check()) return true;
      // If the request has an idempotency key and is refused, its other changes are dropped. So the failure is stored
      // separately.
      const counted = await apart(() =>
        this.#store.fail(place, (before) => afterFailure(before, this.#now()), deadline),
      );
      if (!(await afterWrong?.())) return false;
      await apart(() => this.#store.takeBack(place, counted, deadline));
      return true;
    });
  }

  /** Records that a user has signed in from a client. */
  async signedIn(user: Attempt & { userId: string }): Promise<void> {
    await this.#store.signedIn(this.#clientOf(user, user.userId), this.#now(), user.deadline);
  }

  /**
   * Ends the waiting times for passwords at an account. Called after the user has reset the password, or an operator has set it
   * (spec#accounts-attempts-end). Failures of second factors stay counted, because somebody who has only the mailbox can reset
   * the password (spec#accounts-attempts-factors-end).
   */
  async end(of: Pick<Attempt, 'projectId' | 'address'> & { userId: string }): Promise<void> {
    await this.#store.forgetShared(this.#addressOf(of));
    await this.#store.forgive(of.projectId, of.userId);
  }

  /** Ends the waiting times for second factors. Called after an operator has removed the factors. Idempotent. */
  async endFactors({ projectId, userId }: { projectId: string; userId: string }): Promise<void> {
    await this.#store.forgetFactors(projectId, userId);
  }

  /**
   * Forgets which clients an erased account knows. If `address` is given, also forgets the failures at the address. Idempotent.
   */
  async forget(of: { projectId: string; userId: string; address?: string | null }): Promise<void> {
    if (of.address != null) {
      const { projectId, address } = of;
      await this.#store.forgetShared(this.#addressOf({ projectId, address }));
    }
    await this.#store.forgetClients(of.projectId, of.userId);
  }

  /**
   * The id under which the failures of an attempt are counted. If the account knows the client, this is the id for the client,
   * otherwise the id for the address.
   */
  async #placeOf(attempt: Attempt): Promise<string> {
    // Looks up the client even if nobody has the address. Otherwise the answer would come sooner and show that nobody has the
    // address.
    const client = this.#clientOf(attempt, attempt.userId ?? 'nobody');
    return (await this.#knows(client)) ? client : this.#addressOf(attempt);
  }

  async #knows(client: string): Promise<boolean> {
    const known = await this.#store.find(client);
    return known?.signedInAt != null && this.#now() - known.signedInAt < clientKnownMs + renewMs;
  }

  #addressOf({ projectId, address }: Pick<Attempt, 'projectId' | 'address'>): string {
    return addressPlace(this.#secrets.hash('attempts', `${projectId} ${address}`).slice(0, placeCharacters));
  }

  #clientOf({ projectId, clientIp }: Attempt, userId: string): string {
    return clientPlace({ projectId, userId }, this.#hashOf(clientIp, userId));
  }

  #factorClientOf(attempt: FactorAttempt): string {
    return factorPlace(attempt, this.#hashOf(attempt.clientIp, attempt.userId));
  }

  #hashOf(clientIp: string, userId: string): string {
    return this.#secrets.hash('client', `${userId} ${networkOf(clientIp)}`);
  }
}

/** Throws `auth/too-many-attempts` while attempts have to wait. */
function refuse(failures: Failures | null, now: number): void {
  if (!failures || failures.waits === 0 || isForgotten(failures, now)) return;
  const wait = Math.min(firstWaitMs * 2 ** (failures.waits - 1), longestWaitMs);
  const leftMs = failures.last + wait - now;
  if (leftMs <= 0) return;
  throw tooManyAttempts(leftMs);
}

/** The error for a caller who has to wait `leftMs`. */
export function tooManyAttempts(leftMs: number, message?: string): ApiError {
  const headers = { 'Retry-After': String(Math.ceil(leftMs / 1000)) };
  return new ApiError('auth/too-many-attempts', { headers, ...(message !== undefined && { message }) });
}

function afterFailure(before: Failures | null, now: number): Failures {
  const known = before && !isForgotten(before, now) ? before : { recent: [], waits: 0 };
  if (known.waits > 0) return { recent: [], waits: known.waits + 1, last: now };
  const recent = [...known.recent.filter((at) => now - at < togetherMs), now];
  return recent.length < most ? { recent, waits: 0, last: now } : { recent: [], waits: 1, last: now };
}

function isForgotten({ last }: Pick<Failures, 'last'>, now: number): boolean {
  return now - last >= failuresKeptMs;
}
