import type { NoticeKind } from '@kith/contracts';
import type { AppContext } from '../app.ts';
import type { FactorBook } from '../store/index.ts';

/**
 * Returns the user's factor book with a notice: the user must get a mail about a change. If mails cannot be sent, returns the
 * book unchanged. The notice is stored with the change (spec#accounts-factors-notices), and `postman.kick` sends the mail.
 */
export function withNotice(app: Pick<AppContext, 'postman'>, book: FactorBook, kind: NoticeKind): FactorBook {
  if (!app.postman.isThere) return book;
  const others = (book.notices ?? []).filter((one) => one.kind !== kind);
  // All times of mails come from the machine's clock, not from `app.now`.
  return { ...book, notices: [...others, { kind, at: Date.now() }] };
}
