import type { NoticeKind } from '@kith/contracts';
import type { AppContext } from '../app.ts';
import type { FactorBook } from '../store/index.ts';

/**
 * The book with a note that its user is to be told of a change by mail; unchanged if mails cannot be sent. The note is stored
 * with the change (spec#accounts-factors-notices), and `postman.kick` sends the mail.
 */
export function withNotice(app: Pick<AppContext, 'postman'>, book: FactorBook, kind: NoticeKind): FactorBook {
  if (!app.postman.isThere) return book;
  const others = (book.notices ?? []).filter((one) => one.kind !== kind);
  // The machine's time, by which all mails are judged.
  return { ...book, notices: [...others, { kind, at: Date.now() }] };
}
