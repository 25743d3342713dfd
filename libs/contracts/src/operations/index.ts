import type { OperationSpec } from '../operation.ts';
import { adminUserOperations } from './admin-users.ts';
import { operatorKeyOperations, serverKeyOperations } from './api-keys.ts';
import { auditOperations } from './audit.ts';
import { authOperations, signingKeyOperations } from './auth.ts';
import { blockOperations } from './blocks.ts';
import { collectionOperations } from './collections.ts';
import { connectionRequestOperations } from './connection-requests.ts';
import { connectionOperations } from './connections.ts';
import { copyOperations } from './copies.ts';
import { cryptoOperations } from './crypto.ts';
import { exportOperations } from './export.ts';
import { factorOperations } from './factors.ts';
import { importOperations } from './imports.ts';
import { mailOperations } from './mails.ts';
import { notificationOperations } from './notifications.ts';
import { projectOperations, projectUpkeepOperations } from './projects.ts';
import { storageOperations } from './storage.ts';
import { userSettingsOperations } from './user-settings.ts';
import { userOperations } from './users.ts';

export * from './admin-users.ts';
export * from './api-keys.ts';
export * from './audit.ts';
export * from './auth.ts';
export * from './blocks.ts';
export * from './collections.ts';
export * from './connection-requests.ts';
export * from './connections.ts';
export * from './copies.ts';
export * from './crypto.ts';
export * from './export.ts';
export * from './factors.ts';
export * from './imports.ts';
export {
  givenMailTexts,
  type MailKind,
  mailKinds,
  mailTexts,
  type NoticeKind,
  noticeKinds,
} from './mail-settings.ts';
export * from './mails.ts';
export * from './notifications.ts';
export type {
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyRequest,
} from './passkey-json.ts';
export * from './project-erasure.ts';
export * from './projects.ts';
export * from './storage.ts';
export * from './user-settings.ts';
export * from './users.ts';

const all = [
  ...cryptoOperations,
  ...authOperations,
  ...factorOperations,
  ...mailOperations,
  ...userOperations,
  ...exportOperations,
  ...connectionOperations,
  ...connectionRequestOperations,
  ...blockOperations,
  ...collectionOperations,
  ...notificationOperations,
  ...userSettingsOperations,
  ...storageOperations,
  ...projectOperations,
  ...copyOperations,
  ...projectUpkeepOperations,
  ...adminUserOperations,
  ...importOperations,
  ...signingKeyOperations,
  ...operatorKeyOperations,
  ...serverKeyOperations,
  ...auditOperations,
] as const;

/** Any operation of the HTTP API, with its exact types. */
export type Operation = (typeof all)[number];

/** Every operation of the HTTP API, grouped by topic. */
export const operations: readonly OperationSpec[] = all;
