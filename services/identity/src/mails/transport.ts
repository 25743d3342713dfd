import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@kith/base';
import { withTls } from './tls.ts';

/** A mail, ready to be sent. */
export interface Mail {
  /** The kind appears in logs, and in the names of the files to which mails are written. */
  kind: string;
  /** If two mails have the same id, a mail server may drop the second one. */
  messageId: string;
  fromName: string;
  to: string;
  subject: string;
  text: string;
}

/** A way to send mails. `send` resolves as soon as the mail server has accepted the mail, or the mail is in its file. */
export interface Transport {
  send(mail: Mail): Promise<void>;
  close(): void;
}

export interface TransportConfig {
  smtpUrl?: string | undefined;
  /** The address that mails come from. */
  from?: string | undefined;
  /** The folder to which mails are written during development, if there is no mail server. */
  folder?: string | undefined;
}

/**
 * Opens the transport that the configuration names. Returns null if the configuration names neither a mail server nor a folder
 * (spec#accounts-mail-smtp).
 */
export async function openTransport(
  { smtpUrl, from, folder }: TransportConfig,
  log: Logger,
): Promise<Transport | null> {
  if (smtpUrl !== undefined) return smtpTransport(smtpUrl, from ?? '');
  return folder === undefined ? null : folderTransport(folder, log);
}

const connectMs = 10_000;
const silentMs = 30_000;

async function smtpTransport(url: string, from: string): Promise<Transport> {
  // The module is loaded only if mails are sent by SMTP, because loading it takes memory and time.
  const { createTransport } = await import('nodemailer');
  const smtp = createTransport({
    // These options come first, so that the query of `url` can override them.
    ...{ connectionTimeout: connectMs, greetingTimeout: connectMs, socketTimeout: silentMs },
    ...{ pool: true, maxConnections: 5, disableFileAccess: true, disableUrlAccess: true },
    url: withTls(url),
  });
  return {
    async send({ messageId, fromName, to, subject, text }) {
      const domain = from.slice(from.lastIndexOf('@') + 1);
      await smtp.sendMail({
        ...{ from: { name: fromName, address: from }, to: { name: '', address: to }, subject, text },
        messageId: `<${messageId}@${domain}>`,
        // Keeps automatic responders from answering the mail (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => smtp.close(),
  };
}

function folderTransport(folder: string, log: Logger): Transport {
  return {
    async send({ kind, fromName, to, subject, text }) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
      const file = join(folder, `${time}-${kind}-${randomBytes(4).toString('hex')}.txt`);
      await writeFile(file, `From: ${fromName}\nTo: ${to}\nSubject: ${subject}\n\n${text}`, {
        mode: 0o600,
        flag: 'wx',
      });
      log.warn({ kind, file }, 'no SMTP_URL: the mail is in this file');
    },
    close() {},
  };
}
