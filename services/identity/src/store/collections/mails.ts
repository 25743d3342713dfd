import { type MailKind, mailKinds } from '@kith/contracts';
import { collection, timeKey } from '@kith/store';
import { z } from 'zod';
import { nameKey, projectIn } from '../keys-of.ts';
import { text, time } from './stored.ts';

/** A mail to a user and what its token is for. The mail may already be sent, or may still be waiting (docs/adr/0051). */
export interface StoredMailing {
  kind: MailKind;
  address: string;
  /** The address to which the page behind the mail's link leads. */
  redirect: string | null;
  /** Set until the mail is sent. */
  waiting: { since: number; dueAt: number; tries: number } | null;
  /** What is stored of the token. The token is made when the mail is sent, and only the mail contains it. */
  token: { hash: string; until: number; failures: number } | null;
  /** When the mail and the token become useless. */
  until: number;
}

/**
 * Mails to users, keyed by `userKey` and kind. A user has at most one mail of each kind, with one exception: each changed
 * address has an `emailChanged` mail of its own.
 */
export const mailings = collection<StoredMailing>({
  name: 'mailings',
  kind: 'row',
  version: 1,
  schema: z.object({
    kind: z.enum(mailKinds),
    address: text,
    redirect: text.nullable(),
    waiting: z.object({ since: time, dueAt: time, tries: z.int() }).nullable(),
    token: z.object({ hash: text, until: time, failures: z.int() }).nullable(),
    until: time,
  }),
  indexes: {
    waiting: { key: ({ waiting }, id) => (waiting === null ? null : `${timeKey(waiting.dueAt)}|${id}`) },
    token: { key: ({ token }, id) => (token === null ? null : `${projectIn(id)}|${token.hash}`) },
    // For a while after a change of address, a user may take back the old address.
    kept: {
      key: ({ kind, address }, id) => (kind === 'emailChanged' ? nameKey(projectIn(id), address) : null),
    },
  },
  expires: ({ until }) => until,
});

/**
 * Sealed addresses for which a password reset was requested. The key is the project and a keyed hash of the address. The
 * addresses are stored whether the account exists or not.
 */
export const resetRequests = collection<{
  sealed: string;
  until: number;
}>({
  name: 'resetRequests',
  kind: 'copy',
  version: 1,
  schema: z.object({ sealed: text, until: time }),
  expires: ({ until }) => until,
});

/** Mails of the last hour. The key is the project, a keyed hash of the address, and a random text. */
export const sentMails = collection<{ until: number }>({
  name: 'sentMails',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});
