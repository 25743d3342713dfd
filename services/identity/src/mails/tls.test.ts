import { createLogger } from '@kith/base';
import { expect, test } from 'vitest';
import { startMailServer } from '../../tests/support/mail-server.ts';
import { isUnverified, mayGoPlain, withTls } from './tls.ts';
import { openTransport } from './transport.ts';

test.each([
  'smtps://kith:secret@mail.example.org',
  'smtps://mail.example.org?requireTLS=false',
  'smtp://mail.example.org:587',
  'smtp://mail.example.org?secure=false',
  'smtp://mail.example.org?ignoreTLS=false',
  'smtp://mail.example.org?requireTLS=true&ignoreTLS=true',
  'smtp://127.0.0.1:1025?requireTLS=false',
  'smtp://localhost?ignoreTLS=true',
  'smtp://[::1]?ignoreTLS=true',
])('%s never allows plain text on a network', (address) => {
  expect(mayGoPlain(address)).toBe(false);
});

test.each([
  'smtp://mail.example.org?requireTLS=false',
  'smtp://mail.example.org?requireTLS=0',
  'smtp://mail.example.org?requireTLS=',
  'smtp://mail.example.org?requireTLS=true&requireTLS=false',
  'smtp://mail.example.org?ignoreTLS=true',
  'smtp://127.0.0.1.example.org?ignoreTLS=1',
])('%s allows plain text on a network', (address) => {
  expect(mayGoPlain(address)).toBe(true);
  expect(withTls(address)).not.toMatch(/requireTLS=true$/);
});

test.each([
  ['smtps://mail.example.org?tls.rejectUnauthorized=false', true],
  ['smtp://mail.example.org?tls.rejectUnauthorized=0', true],
  ['smtps://mail.example.org?tls.rejectUnauthorized=true', false],
  ['smtps://localhost?tls.rejectUnauthorized=false', false],
  ['smtps://mail.example.org', false],
])("whether %s turns off the check of the server's certificate: %s", (address, isOpen) => {
  expect(isUnverified(address)).toBe(isOpen);
});

test('a mail server that offers no TLS gets no mail over a network', async () => {
  await using server = await startMailServer();
  const log = createLogger({ name: 'test', level: 'silent' });
  const mail = { kind: 'emailChange', messageId: 'one', fromName: 'Test', to: 'ada@example.org' };
  const send = async (host: string, query = '') => {
    const smtpUrl = server.url.replace('127.0.0.1', host) + query;
    const transport = await openTransport({ smtpUrl, from: 'no-reply@example.org' }, log);
    try {
      await transport?.send({ ...mail, subject: 'Hello', text: 'Hello' });
    } finally {
      transport?.close();
    }
  };
  // An address of this machine that is not recognised as local, so mails to it count as mails over a network.
  const other = '[::ffff:127.0.0.1]';
  for (const query of ['', '?secure=true', '?ignoreTLS=false'])
    await expect(send(other, query)).rejects.toMatchObject({ code: 'ETLS' });
  expect(server.received).toEqual([]);
  await send(other, '?requireTLS=false');
  await send('127.0.0.1');
  expect(server.received).toHaveLength(2);
});
