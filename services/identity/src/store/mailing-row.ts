import type { MailKind } from '@kith/contracts';
import { mailings, type StoredMailing } from './collections/mails.ts';
import { userKey } from './keys-of.ts';

/** A mail that is to be sent to a user. */
export interface NewMailing {
  kind: MailKind;
  address: string;
  redirect?: string | null;
  /**
   * Distinguishes several mails of one kind to the same user. A new mail replaces the user's earlier mail of the same kind and
   * name; mails without a name count as having the same name.
   */
  name?: string;
  /** When the mail becomes useless; by default, a day after it was requested. */
  until?: Date;
}

/**
 * The kinds of mails whose tokens become invalid when all sessions of a user are ended. The sessions may have been ended to
 * sign out a stranger. This stranger must not be able to take over the account with a token from an earlier mail
 * (spec#accounts-tokens-end). The mail with which the old address can be taken back is not among these kinds.
 */
const endingWithSessions = ['emailChange', 'passwordReset'] as const satisfies readonly MailKind[];

export const dayMs = 24 * 3600 * 1000;

/** The row of a mail that is to be sent. It is stored in the same write as a change of the user. */
export function mailingRow(
  { projectId, id }: { projectId: string; id: string },
  { kind, address, redirect = null, name, until }: NewMailing,
  at: Date,
  /** The token of an earlier mail. This token stays valid until the new mail is sent. */
  token: StoredMailing['token'] = null,
) {
  const since = at.getTime();
  const put: StoredMailing = {
    ...{ kind, address, redirect, token },
    waiting: { since, dueAt: since, tries: 0 },
    until: until?.getTime() ?? since + dayMs,
  };
  return { in: mailings, id: mailingId({ projectId, id }, kind, name), put };
}

/**
 * The changes of rows that remove the mails whose tokens end with the sessions. They are stored together with a change that
 * ends the user's sessions.
 */
export function endedMailingRows(user: { projectId: string; id: string }) {
  return endingWithSessions.map((kind) => ({ in: mailings, id: mailingId(user, kind), put: null }));
}

function mailingId(
  { projectId, id }: { projectId: string; id: string },
  kind: MailKind,
  name?: string,
): string {
  return [userKey(projectId, id), kind, ...(name ? [name] : [])].join('|');
}
