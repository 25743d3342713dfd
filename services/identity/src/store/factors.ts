import { untilMade } from '@kith/base';
import type { Documents } from '@kith/store';
import { factors } from './collections.ts';
import { emptyBook, type FactorBook, tidied } from './factor-book.ts';
import { userKey } from './keys-of.ts';

interface Whose {
  projectId: string;
  userId: string;
}

/** Second factors of users. One document a user decides every change, so that a code or a challenge counts once. */
export class Factors {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** A user's book; empty for who has none. */
  async find({ projectId, userId }: Whose): Promise<FactorBook> {
    const key = userKey(projectId, userId);
    return (await this.#documents.get(factors, [key])).get(key)?.doc ?? emptyBook;
  }

  /**
   * Changes a user's book. Throws as `untilMade` does.
   * @param change Makes the new book, null for no change, and a result of the book as it is; or throws. May be called several
   * times.
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
      const isEmpty = next.factors.length === 0 && next.enrolments.length === 0;
      if (isEmpty && !found) return { result };
      const set = isEmpty ? null : next;
      const [outcome] = await this.#documents.change([{ in: factors, target: found ?? key, set }]);
      return outcome === 'made' ? { result } : undefined;
    };
    return untilMade(attempt, { deadline });
  }

  /** Erases a user's book for good. Repeatable. */
  async forget({ projectId, userId }: Whose): Promise<void> {
    await this.#documents.erase(factors, userKey(projectId, userId));
  }
}
