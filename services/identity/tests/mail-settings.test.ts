// Starts at most 5 platforms and 14 processes.
import { randomUUID } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartError } from '@kith/base';
import { handlerEngines, startPlatform, type TestPlatform, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolders, operatorToken, startOn } from '../../../tests/support/folder-platform.ts';
import { mailTo } from '../../../tests/support/mails.ts';
import { type MailServer, startMailServer } from './support/mail-server.ts';

const askFor = ({ call, project }: Pick<TestPlatform, 'call' | 'project'>, email: string) =>
  call<{ success: boolean }>('POST', `/v7/${project.id}/auth/request-password-reset`, { body: { email } });

describe.each(handlerEngines())('SMTP_URL on %s', (engine) => {
  const undo = new AsyncDisposableStack();
  let server: MailServer;
  let platform: TestPlatform;
  beforeAll(async () => {
    server = undo.use(await startMailServer());
    const env = {
      SMTP_URL: server.url,
      MAIL_FROM: 'no-reply@kith.example',
      PUBLIC_URL: 'https://api.example.org',
    };
    platform = undo.use(await startPlatform({ engine, env }));
  });
  afterAll(() => undo.disposeAsync());

  it('mails are sent by this server, with links to the public address; no log has a token or an address', async () => {
    const { email, accessToken: token, projectId } = await platform.createUser();
    await platform.call('POST', `/v7/${projectId}/auth/send-verification-email`, {
      token,
      body: { mode: 'link' },
    });
    const mail = await waitFor(async () => server.received.find(({ to }) => to === email), {
      what: 'the mail',
    });
    const path = `https://api.example.org/v7/${projectId}/auth/verify-email-link`;
    const [, secret = ''] = new RegExp(`^${path}\\?token=([\\w-]{43})$`, 'm').exec(mail.text) ?? [];
    expect(secret).toHaveLength(43);
    expect(await readdir(join(platform.dataFolder, 'mail')).catch(() => [])).toEqual([]);
    server.refusals = [550];
    await askFor(platform, email);
    const logs = await waitFor(async () => {
      const text = await platform.logs();
      return text.includes('a mail could not be sent') ? text : undefined;
    });
    for (const hidden of [secret, email]) expect(logs).not.toContain(hidden);
  });
});

describe('without SMTP_URL', () => {
  it('mails are written to files that only their owner can read, and the log names these files', async () => {
    await using platform = await startPlatform();
    const { email } = await platform.createUser();
    await askFor(platform, email);
    const { file, text } = await mailTo(platform, email, 'passwordReset');
    expect([(await stat(file)).mode & 0o777, (await stat(dirname(file))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    const [token = ''] = /[\w-]{43}$/m.exec(text) ?? [];
    const logs = await platform.logs();
    expect(logs).toContain(file);
    expect(logs).not.toContain(token);
  });

  it('production refuses every request that needs a mail', async () => {
    const env = { NODE_ENV: 'production', KITH_SECRET: 's'.repeat(32), OPERATOR_TOKEN: 'o'.repeat(32) };
    await using platform = await startPlatform({ env });
    const { email, password, accessToken: token, projectId } = await platform.createUser();
    const refused = { status: 503, code: 'auth/mail-unavailable' };
    const post = (path: string, body: unknown) =>
      platform.call('POST', `/v7/${projectId}/auth/${path}`, { token, body });
    await expect(post('request-password-reset', { email })).rejects.toMatchObject(refused);
    await expect(post('send-verification-email', {})).rejects.toMatchObject(refused);
    const newEmail = `${randomUUID()}@example.com`;
    await expect(post('change-email', { password, newEmail })).rejects.toMatchObject(refused);
    const admin = { token: platform.operatorToken, body: { requireVerifiedEmail: true } };
    await platform.call('PATCH', `/admin/projects/${projectId}`, admin);
    await expect(post('sign-up', { email: newEmail, password })).rejects.toMatchObject(refused);
    // Nobody was signed up.
    await platform.call('PATCH', `/admin/projects/${projectId}`, {
      ...admin,
      body: { requireVerifiedEmail: false },
    });
    await post('sign-up', { email: newEmail, password });
  });
});

it('production does not start with a mail server that is reached in plain text', async () => {
  const env = {
    ...{ NODE_ENV: 'production', KITH_SECRET: 's'.repeat(32), OPERATOR_TOKEN: 'o'.repeat(32) },
    ...{
      SMTP_URL: 'smtp://kith:hunter2@mail.example.org?requireTLS=false',
      MAIL_FROM: 'no-reply@kith.example',
    },
  };
  const refusal = await startPlatform({ env }).catch((error) => error);
  expect(refusal).toBeInstanceOf(StartError);
  expect(refusal.message).toMatch(/^SMTP_URL: in production, mails need TLS/);
  expect(refusal.message).not.toContain('hunter2');
});

it('a backup that was not adopted sends no mails', async () => {
  await using folders = await makeFolders();
  const folder = await folders.make();
  const manifest = {
    ...{ format: 1, version: '0.0.0', form: 'embedded', isAnonymised: false, counts: [] },
    settings: { KITH_PREFIX: 'kith', TOKEN_ISSUER: 'kith', TOKEN_AUDIENCE: 'kith.dev' },
    begunAt: new Date().toISOString(),
    endedAt: new Date().toISOString(),
  };
  const ask = async () => {
    const { call, stop } = await startOn(folder);
    try {
      const project = await call<TestPlatform['project']>('POST', '/admin/projects', {
        token: operatorToken,
        body: { name: 'Copy' },
      });
      return await askFor({ call, project }, 'ada@example.com');
    } finally {
      await stop();
    }
  };
  const write = (content: object) => writeFile(join(folder, 'backup.json'), JSON.stringify(content));
  await write(manifest);
  await expect(ask()).rejects.toMatchObject({ status: 503, code: 'auth/mail-unavailable' });
  await write({ ...manifest, adoptedAt: new Date().toISOString() });
  expect(await ask()).toMatchObject({ success: true });
});
