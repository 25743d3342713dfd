import type { MailKind } from '@kith/contracts';
import { mailings, type StoredMailing } from './collections.ts';
import { userKey } from './keys-of.ts';

/** A mail that is to be sent to a user. */
export interface NewMailing {
  kind: MailKind;
  address: string;
  redirect?: string | null;
  /** Distinguishes several mails of one kind. Of each kind, a user has at most one mail that has no name. */
  name?: string;
  /** When the mail becomes useless; a day after `at` by default. */
  until?: Date;
}

const dayMs = 24 * 3600 * 1000;

/** The row of a mail that is to be sent. It is stored as a part of a change of the user. */
export function mailingRow(
  { projectId, id }: { projectId: string; id: string },
  { kind, address, redirect = null, name, until }: NewMailing,
  at: Date,
  /** The token of an earlier mail. It stays valid until the new mail is sent. */
  token: StoredMailing['token'] = null,
) {
  const since = at.getTime();
  const put: StoredMailing = {
    ...{ kind, address, redirect, token },
    waiting: { since, dueAt: since, tries: 0 },
    until: until?.getTime() ?? since + dayMs,
  };
  return { in: mailings, id: [userKey(projectId, id), kind, ...(name ? [name] : [])].join('|'), put };
}
