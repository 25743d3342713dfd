import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A mail as a server got it, decoded. */
export interface ReceivedMail {
  from: string;
  to: string;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/**
 * A mail server. It refuses the recipients of the next mails with the SMTP codes in `refusals`, one mail for each code. In the
 * same way, it refuses the senders with the codes in `senderRefusals`. All later mails are accepted.
 */
export interface MailServer extends AsyncDisposable {
  url: string;
  received: ReceivedMail[];
  /** How many times a client has begun to send a mail. */
  tries: number;
  refusals: number[];
  senderRefusals: number[];
  /** For this many mails, the server answers that it has failed, but keeps the mail. */
  keptButFailed: number;
}

/** Starts a mail server on this machine. The server keeps the mails that it gets. */
export async function startMailServer(port = 0): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onMailFrom(_address, _session, done) {
      const responseCode = mails.senderRefusals.shift();
      done(responseCode ? Object.assign(new Error('Not for you'), { responseCode }) : undefined);
    },
    onRcptTo(_address, _session, done) {
      mails.tries += 1;
      const responseCode = mails.refusals.shift();
      done(responseCode ? Object.assign(new Error('Not now'), { responseCode }) : undefined);
    },
    onData(stream, { envelope }, done) {
      text(stream).then((raw) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        const [{ address: to } = { address: '' }] = envelope.rcptTo;
        mails.received.push({ from, to, ...decoded(raw) });
        const hasFailed = mails.keptButFailed > 0;
        if (hasFailed) mails.keptButFailed -= 1;
        done(hasFailed ? Object.assign(new Error('Not now'), { responseCode: 451 }) : undefined);
      }, done);
    },
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: own } = server.server.address() as AddressInfo;
  const mails: MailServer = {
    url: `smtp://127.0.0.1:${own}`,
    received: [],
    tries: 0,
    refusals: [],
    senderRefusals: [],
    keptButFailed: 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mails;
}

function decoded(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n\s+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const body = raw.slice(end + 4).replaceAll('\r\n', '\n');
  if (headers['content-transfer-encoding'] === 'base64')
    return { headers, text: Buffer.from(body, 'base64').toString() };
  if (headers['content-transfer-encoding'] !== 'quoted-printable') return { headers, text: body };
  const bytes = body
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { headers, text: Buffer.from(bytes, 'latin1').toString() };
}
