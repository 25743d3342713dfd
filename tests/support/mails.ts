import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailKind } from '@kith/contracts';
import { type TestPlatform, waitFor } from '@kith/testing';

/** A mail from the data folder. In development, the platform writes mails to this folder. */
export interface ReadMail {
  kind: string;
  subject: string;
  text: string;
  file: string;
}

/** The mails to an address so far, oldest first. */
export async function mailsTo(
  { dataFolder }: Pick<TestPlatform, 'dataFolder'>,
  address: string,
): Promise<ReadMail[]> {
  const folder = join(dataFolder, 'mail');
  const names = await readdir(folder).catch(() => []);
  const read = async (name: string) => {
    const text = await readFile(join(folder, name), 'utf8');
    const [, to, subject = '', content = ''] =
      /^From: .*\nTo: (.*)\nSubject: (.*)\n\n([\s\S]*)$/.exec(text) ?? [];
    const kind = name.split('-').at(-2) ?? '';
    return to === address ? [{ kind, subject, text: content, file: join(folder, name) }] : [];
  };
  return (await Promise.all(names.sort().map(read))).flat();
}

/** Waits for a mail of the given kind to the given address. This is the first such mail, or the one after `nth` others. */
export function mailTo(
  platform: Pick<TestPlatform, 'dataFolder'>,
  address: string,
  kind: MailKind,
  nth = 0,
): Promise<ReadMail> {
  const look = async () => (await mailsTo(platform, address)).filter((mail) => mail.kind === kind)[nth];
  return waitFor(look, { what: `a mail ${kind} to ${address}` });
}

/**
 * The token or code in a mail. The token is at the end of a link, or on a line of its own if the project has no page for links
 * in mails.
 */
export function tokenIn({ text }: Pick<ReadMail, 'text'>): string {
  const token = /\b(\d{6})\b|token=([\w-]{43})|^([\w-]{43})$/m.exec(text);
  if (!token) throw new Error('The mail has no token.');
  return token.slice(1).find((one) => one !== undefined) as string;
}
