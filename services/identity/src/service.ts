import { join } from 'node:path';
import { type Secrets, StartError } from '@kith/base';
import {
  apiKeyNotice,
  blocksPage,
  ownImages,
  projectErasures,
  projectSettingsNotice,
  revocationNotice,
  standingBlocks,
} from '@kith/contracts';
import {
  Relay,
  type RunningService,
  type ServiceRuntime,
  Sweeper,
  secretsOf,
  serviceManifest,
  startService,
} from '@kith/service';
import type { StoreConfig } from '@kith/store';
import type { z } from 'zod';
import type { AppContext } from './app.ts';
import { Attempts } from './attempts.ts';
import { auditEvents, auditLogOf } from './audit-log.ts';
import { identityBackup } from './backup.ts';
import { blockEvents } from './blocks.ts';
import { identityConfig } from './config.ts';
import { ErasedExternals } from './erased-externals.ts';
import { type ErasureTimes, erasureTimes, finishErasures } from './erasure.ts';
import { ErasureList } from './erasure-list.ts';
import { KnownSince } from './known-since.ts';
import { type MailTimes, Postman } from './mails/postman.ts';
import { isUnverified, mayGoPlain } from './mails/tls.ts';
import { openTransport, type TransportConfig } from './mails/transport.ts';
import { Notices } from './notices.ts';
import { actingUserHandler } from './operations/acting-user.ts';
import { apiKeysHandler, noteKeyUsesHandler } from './operations/api-keys.ts';
import { exportAuditHandler } from './operations/export-audit.ts';
import { exportMailsHandler } from './operations/export-mails.ts';
import { exportSessionsHandler } from './operations/export-sessions.ts';
import * as operations from './operations/index.ts';
import { knownUsersHandler } from './operations/known-users.ts';
import { projectOfUserHandler } from './operations/project-of-user.ts';
import { projectSettingsHandler } from './operations/project-settings.ts';
import { revocationsHandler } from './operations/revocations.ts';
import { usersByIdsHandler } from './operations/users-by-ids.ts';
import { usersPageHandler } from './operations/users-page.ts';
import { Passwords } from './passwords.ts';
import { fileEvents } from './pictures.ts';
import { startProjectEraser } from './project-erasure.ts';
import { takeUpRestore, usersBeforeRestore } from './restored.ts';
import { openStore } from './store/index.ts';
import { AccessTokens } from './tokens/access-tokens.ts';
import { hearRevokedKeys } from './tokens/hear-revoked-keys.ts';
import { type KeyTimes, keyTimes, SigningKeys } from './tokens/signing-keys.ts';
import { withHashKey } from './tokens/with-hash-key.ts';
import { startUpkeep } from './upkeep.ts';

export interface IdentityOptions {
  store: StoreConfig;
  /** The secrets with which the identity service seals and hashes values. */
  secrets: Secrets;
  /** `iss` of access tokens. */
  tokenIssuer?: string;
  /** `aud` of access tokens. */
  tokenAudience?: string;
  /** Path of the list of erasures; absent if no list is kept. */
  erasuresFile?: string | undefined;
  /** Lifetimes of signing keys. If a lifetime is left out, its default applies. */
  keyTimes?: Partial<KeyTimes>;
  /** How often the service ends sessions that a dead process should have ended, in ms; 5 s by default. */
  sweepEveryMs?: number;
  /** Times of erasure. If a time is left out, its default applies. */
  erasureTimes?: Partial<ErasureTimes>;
  /** The clock for failed attempts and second factors, in Unix ms; the clock of the machine by default. */
  now?: () => number;
  /** How mails are sent; if it is absent, no mail can be sent. */
  mails?: MailOptions | undefined;
}

interface MailOptions extends TransportConfig {
  /** The address by which clients reach the gateway. */
  publicUrl?: string | undefined;
  /** Times of sending. If a time is left out, its default applies. */
  times?: Partial<MailTimes>;
}

export const manifest = serviceManifest<AppContext>()({
  name: 'identity',
  config: identityConfig,
  operations,
  internal: [
    exportSessionsHandler,
    exportMailsHandler,
    exportAuditHandler,
    usersByIdsHandler,
    knownUsersHandler,
    projectOfUserHandler,
    usersPageHandler,
    revocationsHandler,
    projectSettingsHandler,
    actingUserHandler,
    apiKeysHandler,
    noteKeyUsesHandler,
  ],
  asks: [blocksPage, standingBlocks, ownImages, ...projectErasures],
  emits: ['user', 'session', 'audit'],
  subscriptions: [blockEvents, fileEvents, usersBeforeRestore, auditEvents],
  tells: [revocationNotice, projectSettingsNotice, apiKeyNotice],
  // With these notices, the replicas of the service tell each other which signing keys they have revoked.
  hears: [revocationNotice],
  stores: identityBackup,
  start: (runtime, { store, config, folder, isSilent }) =>
    startIdentity(runtime, {
      store,
      secrets: secretsOf(config),
      tokenIssuer: config.TOKEN_ISSUER,
      tokenAudience: config.TOKEN_AUDIENCE,
      erasuresFile: config.ERASURES_FILE ?? (folder && join(folder, 'erasures.jsonl')),
      mails: isSilent ? undefined : mailsOf(config, { folder, nodeEnv: runtime.nodeEnv }),
    }),
});

/**
 * Starts identity: accounts, tokens, users and projects (spec#accounts, spec#users, spec#projects). At the first start, makes
 * the signing key.
 */
export async function startIdentity(
  runtime: ServiceRuntime,
  options: IdentityOptions,
): Promise<RunningService> {
  const { tokenIssuer = 'kith', tokenAudience = 'kith.dev', sweepEveryMs = 5_000 } = options;
  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(options.store), (opened) => opened.close());
  const times = { ...keyTimes, ...options.keyTimes };
  const keys = await SigningKeys.open(store.keys, options.secrets, times);
  const secrets = await withHashKey(options.secrets, store.hashKeys);
  const tokens = new AccessTokens(keys, { issuer: tokenIssuer, audience: tokenAudience });
  const heard = undo.adopt(await hearRevokedKeys(keys, runtime), (intake) => intake.drain());
  const relay = undo.adopt(
    new Relay({ bus: runtime.bus, outbox: store.outbox, log: runtime.log, metrics: runtime.metrics }),
    (started) => started.stop(),
  );
  const notices = new Notices(runtime.bus, runtime.log);
  const passwords = new Passwords();
  const { number: epoch, restoredAt = 0 } = (await store.outbox.fact('epoch')) ?? { number: 0 };
  const { mails = {} } = options;
  const postman = undo.adopt(
    new Postman({
      ...{ store, secrets, restoredAt, log: runtime.log, metrics: runtime.metrics },
      ...{ publicUrl: mails.publicUrl, times: mails.times },
      transport: await openTransport(mails, runtime.log),
    }),
    (started) => started.stop(),
  );
  const app: AppContext = {
    bus: runtime.bus,
    store,
    epoch,
    restoredAt,
    tokens,
    keys,
    secrets,
    tokenAudience,
    notices,
    erasures: await ErasureList.open(options.erasuresFile),
    erasedExternals: new ErasedExternals(store.erasure, secrets),
    passwords,
    attempts: new Attempts({ store: store.attempts, secrets, now: options.now }),
    now: () => new Date(options.now?.() ?? Date.now()),
    postman,
    relay,
  };
  const { everyMs, settleMs } = { ...erasureTimes, ...options.erasureTimes };
  const known = new KnownSince();
  const erasure = undo.adopt(
    new Sweeper((isStopped) => finishErasures(app, settleMs, known, isStopped), {
      everyMs,
      log: runtime.log,
    }),
    (started) => started.stop(),
  );
  const projects = undo.adopt(
    startProjectEraser(app, { everyMs: Math.min(everyMs, sweepEveryMs), settleMs, log: runtime.log }),
    (started) => started.stop(),
  );
  const upkeep = startUpkeep(app, { times, everyMs: sweepEveryMs, log: runtime.log });
  for (const sweeper of upkeep) undo.adopt(sweeper, (started) => started.stop());
  const service = await startService<AppContext>(runtime, manifest, {
    app,
    outbox: store.outbox,
    replies: store.replies,
    auditLog: auditLogOf(app),
    restored: () => takeUpRestore(app),
    background: [{ stop: () => heard.drain() }, postman, projects, erasure, ...upkeep, relay],
    checkStore: () => store.check(),
    close: () => store.close(),
  });
  undo.move();
  return service;
}

type MailConfig = Pick<
  z.output<typeof identityConfig>,
  'SMTP_URL' | 'MAIL_FROM' | 'MAIL_FOLDER' | 'PUBLIC_URL'
>;

/**
 * How mails are sent, according to the environment. Mails can be written to files only during development
 * (spec#accounts-mail-smtp). Throws `StartError`.
 */
function mailsOf(
  { SMTP_URL: smtpUrl, MAIL_FROM: from, MAIL_FOLDER, PUBLIC_URL: publicUrl }: MailConfig,
  { folder, nodeEnv }: { folder: string | undefined; nodeEnv: string },
): MailOptions {
  if (smtpUrl !== undefined && from === undefined)
    throw new StartError('MAIL_FROM: the e-mail address that mails come from is needed with SMTP_URL');
  const isProduction = nodeEnv === 'production';
  if (isProduction && smtpUrl !== undefined) refuseOpenMail(smtpUrl);
  const mailFolder = isProduction ? undefined : (MAIL_FOLDER ?? (folder && join(folder, 'mail')));
  return { smtpUrl, from, folder: mailFolder, publicUrl };
}

/**
 * Refuses a mail server if others on the network could read the mails on their way to this server. Only development may use
 * such a server. Throws `StartError`.
 */
function refuseOpenMail(smtpUrl: string): void {
  if (mayGoPlain(smtpUrl))
    throw new StartError(
      'SMTP_URL: in production, mails need TLS. Remove requireTLS and ignoreTLS from the address, or use smtps://',
    );
  if (isUnverified(smtpUrl))
    throw new StartError(
      'SMTP_URL: in production, the mail server needs a certificate that can be verified. Remove tls.rejectUnauthorized from the address, and set NODE_EXTRA_CA_CERTS to the certificate of its authority',
    );
}
