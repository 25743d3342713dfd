import { untilMade } from '@kith/base';
import type { Documents } from '@kith/store';
import { factorNotices, factors } from './collections/sign-in.ts';
import { emptyBook, type FactorBook, tidied } from './factor-book.ts';
import { everything, lastIn, projectIn, userKey } from './keys-of.ts';

interface Whose {
  projectId: string;
  userId: string;
}

/**
 * Second factors of users. All factors of a user are in one document, and every use of a factor changes this document. So of
 * two requests with the same code or challenge, only one succeeds.
 */
export class Factors {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** A user's book; an empty book if none is stored. */
  async find({ projectId, userId }: Whose): Promise<FactorBook> {
    const key = userKey(projectId, userId);
    return (await this.#documents.get(factors, [key])).get(key)?.doc ?? emptyBook;
  }

  /**
   * Changes a user's book. Throws as `untilMade` does.
   * @param change Gets the present book. Returns the new book and a result, or throws. If it returns null instead of a new
   * book, nothing changes. `change` may be called several times.
   */
  change<T>(
    { projectId, userId, at, deadline }: Whose & { at: Date; deadline: number },
    change: (book: FactorBook) => Promise<{ book: FactorBook | null; result: T }>,
  ): Promise<T> {
    const key = userKey(projectId, userId);
    const attempt = async () => {
      const found = (await this.#documents.get(factors, [key])).get(key);
      const { book, result } = await change(tidied(found?.doc ?? emptyBook, at));
      if (!book) return { result };
      const next = tidied(book, at);
      const { notices = [] } = next;
      const isEmpty = [next.factors, next.enrolments, notices].every(({ length }) => length === 0);
      if (isEmpty && !found) return { result };
      const set = isEmpty ? null : next;
      const [outcome] = await this.#documents.change([
        { in: factors, target: found ?? key, set, rows: rowsOf(key, found?.doc.notices, notices) },
      ]);
      return outcome === 'made' ? { result } : undefined;
    };
    return untilMade(attempt, { deadline });
  }

  /**
   * Stores a user's book again, unchanged. So changes of this book that were prepared before are refused, and their requests
   * read the book again. If another change is faster, that change has the same effect. Without a book, only an enrolment can be
   * under way, and its confirmation is a change of the book.
   */
  async touch({ projectId, userId }: Whose): Promise<void> {
    const key = userKey(projectId, userId);
    const target = (await this.#documents.get(factors, [key])).get(key);
    if (target) await this.#documents.change([{ in: factors, target, set: target.doc }]);
  }

  /** Erases a user's book permanently. Idempotent. Returns `false` as long as an event about the factors is not published. */
  async forget({ projectId, userId }: Whose): Promise<boolean> {
    const key = userKey(projectId, userId);
    // Clears the row in `factorNotices` last: `erase` first completes the last change of the book, and this may write the row
    // again.
    if (!(await this.#documents.erase(factors, key))) return false;
    await this.#documents.clearIds(factorNotices, [key]);
    return true;
  }

  /** Users who must still get a mail about a change. */
  async untold(limit: number): Promise<Whose[]> {
    const found = await this.#documents.range(factorNotices, { ...everything, limit });
    return found.map(({ id }) => ({ projectId: projectIn(id), userId: lastIn(id) }));
  }

  /** Records that the user has got a mail about these changes. */
  async noteTold(whose: Whose, told: readonly Notice[]): Promise<void> {
    const isTold = ({ kind, at }: Notice) => told.some((one) => one.kind === kind && one.at >= at);
    const now = new Date();
    await this.change({ ...whose, at: now, deadline: now.getTime() + noteMs }, async (book) => {
      const { notices, ...others } = book;
      const left = notices?.filter((one) => !isTold(one)) ?? [];
      return { book: left.length > 0 ? { ...book, notices: left } : others, result: undefined };
    });
  }
}

type Notice = NonNullable<FactorBook['notices']>[number];

/** How long `noteTold` may take, in ms. */
const noteMs = 10_000;

/**
 * Returns the change of a user's row in `factorNotices`. The row exists as long as the user must still get a mail. `untold`
 * finds such users by their rows.
 */
function rowsOf(id: string, before: readonly Notice[] = [], after: readonly Notice[] = []) {
  if (before.length === 0 && after.length === 0) return [];
  const first = after[0];
  return [{ in: factorNotices, id, put: first ? { at: first.at } : null }];
}
