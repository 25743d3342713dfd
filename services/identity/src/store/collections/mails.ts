import { type MailKind, mailKinds } from '@kith/contracts';
import { collection, timeKey } from '@kith/store';
import { z } from 'zod';
import { nameKey, projectIn } from '../keys-of.ts';
import { text, time } from './stored.ts';

/**
 * A mail to a user, and the hash of the token in the mail. The mail may already be sent, or may still be waiting
 * (docs/adr/0051).
 */
export interface StoredMailing {
  kind: MailKind;
  address: string;
  /** The mail's link opens a page, which then leads to this address. */
  redirect: string | null;
  /** Set until the mail is sent. */
  waiting: { since: number; dueAt: number; tries: number } | null;
  /**
   * The hash of the token, and how long the token is valid. The token itself is made when the mail is sent, and only the mail
   * contains it.
   */
  token: { hash: string; until: number; failures: number } | null;
  /** When the mail and the token become useless. */
  until: number;
}

/**
 * Mails to users, keyed by `userKey` and kind. A user has at most one mail of each kind, except `emailChanged`. Each change of
 * the address has its own `emailChanged` mail.
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
    // Finds the user who had an address before, and may still take it back.
    kept: {
      key: ({ kind, address }, id) => (kind === 'emailChanged' ? nameKey(projectIn(id), address) : null),
    },
  },
  expires: ({ until }) => until,
});

/**
 * Sealed addresses for which a password reset was requested. The key is the project and a keyed hash of the address. An address
 * is stored even if no account has it.
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

/**
 * One document for each try to send a mail in the last hour, so that the mails to an address can be counted. The key is the
 * project, a keyed hash of the address, a hash that names the mail, and a random text.
 */
export const sentMails = collection<{ until: number }>({
  name: 'sentMails',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});
