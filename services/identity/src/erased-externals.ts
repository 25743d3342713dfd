import { clocksMs, type Secrets } from '@kith/base';
import type { Erasure, User } from './store/index.ts';
import { leewaySeconds } from './tokens/external-token.ts';

/**
 * How long a mark is kept, in ms. This is the longest token lifetime that a project can allow, plus twice the time by which
 * clocks may differ. The clock of the replica that made the mark may differ from two other clocks. One is the clock of the
 * backend that issues the tokens, and the other is the clock of the replica that removes the mark.
 */
const keptMs = 24 * 3600_000 + 2 * clocksMs;
/**
 * A token is accepted only if it was issued more than this many ms after the erasure, because two clocks may be ahead. The
 * backend's clock may be ahead of the clock of the replica that accepts the token, by the leeway. This replica's clock may be
 * ahead of the clock of the replica that made the mark, by the same amount. The time is much shorter than `clocksMs`, because
 * the person cannot come back with a new account before it is over.
 */
const laterMs = 2 * leewaySeconds * 1000;

/**
 * Remembers for a while which external users were erased. A token from before the erasure must not bring the user back
 * (spec#accounts-external-erased). A mark holds a keyed hash and nothing else of the user.
 */
export class ErasedExternals {
  readonly #store: Erasure;
  readonly #secrets: Pick<Secrets, 'hash'>;

  constructor(store: Erasure, secrets: Pick<Secrets, 'hash'>) {
    this.#store = store;
    this.#secrets = secrets;
  }

  async note(projectId: string, foreignId: string): Promise<void> {
    const at = new Date();
    await this.#store.noteExternal(this.#idOf(projectId, foreignId), {
      at,
      until: new Date(at.getTime() + keptMs),
    });
  }

  /**
   * Whether a token may have been issued before its user was erased (spec#accounts-external-erased). If a token does not say
   * when it was issued, it counts as issued before the erasure. A mark is written before the erasure, which may then fail. So a
   * mark says nothing about a user who is older than the mark and still exists.
   * @param findUser Finds the user whom the token names. It is called only if there is a mark.
   */
  async refuses(
    projectId: string,
    { foreignId, issuedAt }: { foreignId: string; issuedAt: number | null },
    findUser: () => Promise<Pick<User, 'createdAt'> | null>,
  ): Promise<boolean> {
    const erasedAt = await this.#store.externalErasedAt(this.#idOf(projectId, foreignId));
    // Times in tokens are whole seconds, rounded down. So the token may have been issued up to a second later than its time
    // says.
    if (erasedAt === null || (issuedAt ?? 0) * 1000 > erasedAt.getTime() + laterMs) return false;
    const user = await findUser();
    // A user who was created again after the erasure may seem older than the mark if clocks differ.
    return user === null || user.createdAt.getTime() + clocksMs >= erasedAt.getTime();
  }

  #idOf(projectId: string, foreignId: string): string {
    return `${projectId}|${this.#secrets.hash('erased', `${projectId} ${foreignId}`)}`;
  }
}
