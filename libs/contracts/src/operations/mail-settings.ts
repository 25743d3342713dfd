import { z } from 'zod';
import { text } from '../scalars.ts';

/** The kinds of mails that only report a change, and contain no token (spec#accounts-factors-notices). */
export const noticeKinds = ['factorAdded', 'factorRemoved', 'recoveryCodesRenewed'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** The kinds of mails. */
export const mailKinds = [
  'passwordReset',
  'verificationLink',
  'verificationCode',
  'emailChange',
  'emailChanged',
  ...noticeKinds,
] as const;
export type MailKind = (typeof mailKinds)[number];

/**
 * The texts of all kinds of mails may contain `{project}` and `{address}`. They stand for the project's name, and for the
 * address that the mail goes to.
 */
const anywhere = ['project', 'address'];
const secret: Readonly<Record<MailKind, readonly string[]>> = {
  passwordReset: ['link', 'token'],
  verificationLink: ['link', 'token'],
  verificationCode: ['code'],
  emailChange: ['link', 'token'],
  emailChanged: ['link', 'token'],
  factorAdded: [],
  factorRemoved: [],
  recoveryCodesRenewed: [],
};

/** What is wrong with the placeholders in braces in a text; undefined if nothing is wrong. */
function wrongBraces(value: string, kind: MailKind): string | undefined {
  const names = [...value.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const known = [...anywhere, ...secret[kind]];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    return `must have no {${unknown}}; it may have ${known.map((name) => `{${name}}`).join(', ')}.`;
  return undefined;
}

const subjectOf = (kind: MailKind) =>
  text({ min: 1, max: 200 })
    .refine((value) => !/\p{Cc}/u.test(value), 'must be one line.')
    // A subject must hold no secret, because mail lists and locked screens show it.
    .refine(
      (value) => !secret[kind].some((name) => value.includes(`{${name}}`)),
      'must not contain a link, token or code.',
    )
    .superRefine((value, context) => {
      const message = wrongBraces(value, kind);
      if (message) context.addIssue({ code: 'custom', message });
    });

const textOf = (kind: MailKind) =>
  text({ min: 1, max: 8_000 })
    .refine((value) => !/[^\P{Cc}\t\r\n]/u.test(value), 'must have no control characters.')
    .refine(
      (value) => secret[kind].length === 0 || secret[kind].some((name) => value.includes(`{${name}}`)),
      `must have ${secret[kind].map((name) => `{${name}}`).join(' or ')}.`,
    )
    .superRefine((value, context) => {
      const message = wrongBraces(value, kind);
      if (message) context.addIssue({ code: 'custom', message });
    });

const mailText = (kind: MailKind) => z.object({ subject: subjectOf(kind), text: textOf(kind) });

function ofEachKind<T>(make: (kind: MailKind) => T): Record<MailKind, T> {
  return Object.fromEntries(mailKinds.map((kind) => [kind, make(kind)])) as Record<MailKind, T>;
}

/** Subjects and texts of mails, by kind. A kind that is left out has the usual subject and text (spec#accounts-mail-texts). */
export const mailTexts = z.object(ofEachKind((kind) => mailText(kind).optional()));

/**
 * Subjects and texts of mails as an operator gives them. They replace all earlier texts. So if a misspelt kind were ignored,
 * the earlier text of the right kind would be lost. Therefore unknown kinds are refused (spec#requests-admin-unknown).
 */
export const givenMailTexts = z.strictObject(ofEachKind((kind) => mailText(kind).strict().optional()));

/** The application's page that the links in mails open. */
export const mailLinkBase = text({ max: 2_048 })
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !/[\s"<>]/.test(value),
    'must be the http or https address of a page.',
  )
  .meta({ maxLength: 2_048, pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?://' });
