import { ApiError, type Secrets, Turns } from '@kith/base';
import { apart } from '@kith/store';
import { networkOf } from './network-of.ts';
import {
  type Attempts as AttemptStore,
  addressPlace,
  clientKnownMs,
  clientPlace,
  type Failures,
  failuresKeptMs,
  renewMs,
} from './store/index.ts';

/**
 * How many failures make further attempts wait, and for how long failures count together, in ms
 * (spec#accounts-attempts-refused).
 */
const most = 10;
const togetherMs = 15 * 60_000;
/** The first wait and the longest one, in ms; each failure after the first wait doubles it. */
const firstWaitMs = 30_000;
const longestWaitMs = 3600_000;

/** How many characters of an address's hash name its place. They hold 24 bits, which bounds the table (docs/adr/0049). */
const placeCharacters = 4;

/** The account that somebody tries to get into, and the client that tries. */
export interface Attempt {
  projectId: string;
  /** The e-mail address given, lower-cased, whether somebody has it or not. */
  address: string;
  /** The user who has the address; null if nobody has it. */
  userId: string | null;
  clientIp: string;
  deadline?: number | undefined;
}

/** Describes a request as an attempt. */
export function attemptOf<Whose extends Pick<Attempt, 'address' | 'userId'>>(
  request: { projectId: string; clientIp: string; deadline: number },
  whose: Whose,
): Attempt & Whose {
  const { projectId, clientIp, deadline } = request;
  return { projectId, clientIp, deadline, ...whose };
}

/**
 * Limits failed attempts at an account, wherever they come from, so that passwords cannot be guessed (spec#accounts-attempts). A
 * client that the account knows counts by itself: no stranger can lock the user out.
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
   * Checks a password or a second factor, unless too many attempts have failed before it, and counts the attempt if it is
   * wrong. Attempts that count together are checked one after the other, so that many simultaneous ones get no more checks than
   * many in a row.
   * @param check Tells whether the password or factor is right. If `check` throws, that does not count as a failed attempt. The
   * method throws the same error, or `auth/too-many-attempts`.
   */
  async check(attempt: Attempt, check: () => Promise<boolean>): Promise<boolean> {
    const place = await this.#placeOf(attempt);
    return this.#turns.run([place], async () => {
      refuse((await this.#store.find(place))?.failures ?? null, this.#now());
      const isRight = await check();
      if (!isRight) {
        // Stored apart: if the request has an idempotency key and is refused, its other changes are dropped.
        await apart(() =>
          this.#store.fail(place, (before) => afterFailure(before, this.#now()), attempt.deadline),
        );
      }
      return isRight;
    });
  }

  /** Notes that a user has signed in from a client. */
  async signedIn(user: Attempt & { userId: string }): Promise<void> {
    await this.#store.signedIn(this.#clientOf(user, user.userId), this.#now(), user.deadline);
  }

  /** Ends the waits at an account after its user has reset the password, or an operator has set it (spec#accounts-attempts-end). */
  async end(of: Pick<Attempt, 'projectId' | 'address'> & { userId: string }): Promise<void> {
    await this.#store.forgetAddress(this.#addressOf(of));
    await this.#store.forgive(of.projectId, of.userId);
  }

  /** Forgets an erased account: its clients and, if `address` is given, the failures at the address. Repeatable. */
  async forget(of: { projectId: string; userId: string; address?: string | null }): Promise<void> {
    if (of.address != null) {
      const { projectId, address } = of;
      await this.#store.forgetAddress(this.#addressOf({ projectId, address }));
    }
    await this.#store.forgetClients(of.projectId, of.userId);
  }

  /** The place whose failures count for an attempt: the client's own if the account knows the client, otherwise the address's. */
  async #placeOf(attempt: Attempt): Promise<string> {
    // Looks a client up even if nobody has the address: otherwise the answer would come sooner.
    const client = this.#clientOf(attempt, attempt.userId ?? 'nobody');
    const known = await this.#store.find(client);
    const isKnown = known?.signedInAt != null && this.#now() - known.signedInAt < clientKnownMs + renewMs;
    return isKnown ? client : this.#addressOf(attempt);
  }

  #addressOf({ projectId, address }: Pick<Attempt, 'projectId' | 'address'>): string {
    return addressPlace(this.#secrets.hash('attempts', `${projectId} ${address}`).slice(0, placeCharacters));
  }

  #clientOf({ projectId, clientIp }: Attempt, userId: string): string {
    const hash = this.#secrets.hash('client', `${userId} ${networkOf(clientIp)}`);
    return clientPlace({ projectId, userId }, hash);
  }
}

/** Throws `auth/too-many-attempts` while attempts have to wait. */
function refuse(failures: Failures | null, now: number): void {
  if (!failures || failures.waits === 0 || isForgotten(failures, now)) return;
  const wait = Math.min(firstWaitMs * 2 ** (failures.waits - 1), longestWaitMs);
  const leftMs = failures.last + wait - now;
  if (leftMs <= 0) return;
  const seconds = Math.ceil(leftMs / 1000);
  throw new ApiError('auth/too-many-attempts', { headers: { 'Retry-After': String(seconds) } });
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
