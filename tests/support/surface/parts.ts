import * as contracts from '@kith/contracts';
import { type OperationSpec, operations, takesKey } from '@kith/contracts';
import { outcomesOf } from './outcomes.ts';

/** The operations and outcomes that one suite of `tests/surface` has to reach. */
export interface Part {
  operations: readonly OperationSpec[];
  /** The outcomes that the suite has to reach. Usually these are all outcomes that the operation's contract promises. */
  outcomes(spec: OperationSpec): readonly string[];
}

/** A suite that has to reach all outcomes of its operations. */
const whole = (...of: OperationSpec[]): Part => ({ operations: of, outcomes: outcomesOf });

/**
 * All outcomes, except the outcome of an installation that cannot send mails. services/identity/tests/mail-settings.test.ts checks
 * that outcome.
 */
const withoutMails = (spec: OperationSpec) =>
  outcomesOf(spec).filter((outcome) => outcome !== 'auth/mail-unavailable');

/**
 * The suites that test the operations feature by feature. The keys are the names of their files. Each operation is in exactly
 * one of these suites.
 */
export const features = {
  crypto: {
    operations: [contracts.signTestingJwt, contracts.signTestingJwtV2],
    // In this part, `crypto/server-error` does not mean an outage. It is the answer to a bad key.
    outcomes: (spec) => [...outcomesOf(spec), 'crypto/server-error'],
  },
  factors: whole(
    contracts.listFactors,
    contracts.enrolFactor,
    contracts.confirmFactor,
    contracts.removeFactor,
    contracts.renewRecoveryCodes,
    contracts.challengePasskey,
    contracts.challengeSignIn,
    contracts.stepUp,
    contracts.removeUserFactors,
  ),
  accounts: {
    operations: [contracts.signUp, contracts.signIn, contracts.verifyExternalUser, contracts.changePassword],
    outcomes: withoutMails,
  },
  mails: {
    operations: contracts.mailOperations,
    outcomes: withoutMails,
  },
  sessions: whole(
    contracts.signOut,
    contracts.requestNewAccessToken,
    contracts.listSessions,
    contracts.deleteSession,
    contracts.getJwks,
    contracts.rotateKeys,
    contracts.revokeKey,
  ),
  users: whole(
    contracts.getUser,
    contracts.getUserByUsername,
    contracts.getUserByForeignId,
    contracts.suggestUsers,
    contracts.checkUsername,
    contracts.updateUser,
    contracts.deleteUser,
    contracts.exportUser,
  ),
  connections: whole(
    contracts.requestConnection,
    contracts.getConnectionStatus,
    contracts.deleteConnectionWithUser,
    contracts.acceptConnection,
    contracts.declineConnection,
    contracts.deleteConnection,
  ),
  'connection-lists': whole(
    contracts.listConnections,
    contracts.countConnections,
    contracts.listUserConnections,
    contracts.countUserConnections,
    contracts.listSentRequests,
    contracts.listReceivedRequests,
  ),
  blocks: whole(contracts.blockUser, contracts.unblockUser, contracts.listBlocks),
  'user-settings': whole(
    contracts.getConnectionSettings,
    contracts.updateConnectionSettings,
    contracts.getNotificationSettings,
    contracts.updateNotificationSettings,
  ),
  collections: whole(
    contracts.getRootCollection,
    contracts.createSubCollection,
    contracts.listSubCollections,
    contracts.renameCollection,
    contracts.deleteCollection,
  ),
  entities: whole(
    contracts.listEntities,
    contracts.addEntity,
    contracts.removeEntity,
    contracts.isEntitySaved,
  ),
  notifications: whole(
    contracts.listNotifications,
    contracts.countNotifications,
    contracts.markNotificationAsRead,
    contracts.markAllNotificationsAsRead,
    contracts.streamNotifications,
    contracts.createNotifications,
  ),
  storage: whole(
    contracts.createImage,
    contracts.createFile,
    contracts.listFiles,
    contracts.getFile,
    contracts.getFileVariant,
    contracts.deleteFile,
    contracts.deleteProjectFile,
  ),
  projects: whole(
    contracts.createProject,
    contracts.listProjects,
    contracts.getProject,
    contracts.updateProject,
    contracts.deleteProject,
    contracts.getProjectLean,
  ),
  operators: whole(
    contracts.listProjectUsers,
    contracts.changeUser,
    contracts.suspendUser,
    contracts.restoreUser,
    contracts.setPassword,
    contracts.listUserSessions,
    contracts.endUserSessions,
    contracts.rebuildConnectionsProfiles,
    contracts.rebuildNotificationsProfiles,
    contracts.rebuildIdentityBlocks,
    contracts.announceErasures,
  ),
  'operator-keys': whole(contracts.createOperator, contracts.listOperators, contracts.deleteOperator),
  'server-keys': whole(contracts.createServerKey, contracts.listServerKeys, contracts.deleteServerKey),
  audit: whole(contracts.listAudit),
  imports: whole(
    contracts.importUsers,
    contracts.importConnections,
    contracts.importCollections,
    contracts.importEntities,
    contracts.importFile,
  ),
} as const satisfies Record<string, Part>;

/** One operation of each auth class (spec#auth). The layers before an operation are the same for all operations of a class. */
export const classes = {
  none: contracts.signOut,
  optional: contracts.getUserByUsername,
  user: contracts.renameCollection,
  operator: contracts.updateProject,
  'server-key': contracts.createNotifications,
} as const satisfies Record<OperationSpec['auth'], OperationSpec>;

const route = ['route/not-found', 'route/method-not-allowed'];
const body = ['request/invalid-json', 'request/unsupported-media-type', 'request/too-large'];

/** Operations whose answer does not depend on a database. */
const storeless: ReadonlySet<string> = new Set<string>([
  contracts.signTestingJwt.name,
  contracts.signTestingJwtV2.name,
  contracts.getJwks.name,
]);

/** The suites that check one aspect of all operations, or of one operation per class. */
export const sides = {
  'short-forms': {
    operations: operations.filter(({ shortForm }) => shortForm),
    outcomes: (spec) => [
      String(spec.status),
      spec.auth === 'user' ? 'auth/token-expired' : spec.invalid!.params!,
    ],
  },
  idempotency: {
    operations: operations.filter(takesKey),
    outcomes: (spec) => [
      String(spec.status),
      'request/invalid-idempotency-key',
      // This operation deletes the account. After that, the token is refused before the idempotency key is checked.
      ...(spec === contracts.deleteUser ? [] : ['request/idempotency-mismatch']),
      ...(spec === contracts.signUp ? ['request/in-progress'] : []),
    ],
  },
  layers: {
    operations: Object.values(classes),
    outcomes: ({ auth, scope, method }) => [
      ...route,
      ...(auth === 'server-key' ? ['auth/unauthorized', 'auth/forbidden'] : ['rate-limit/exceeded']),
      ...(scope === 'project' ? ['project/invalid-id'] : []),
      ...(method === 'GET' ? [] : body),
      ...(auth === 'user' ? ['auth/unauthorized', 'auth/forbidden', 'auth/suspended'] : []),
      ...(auth === 'operator' ? ['auth/unauthorized'] : []),
    ],
  },
  'server-errors': {
    operations: operations.filter(({ name }) => !storeless.has(name)),
    outcomes: ({ feature }) => [`${feature}/server-error`],
  },
} satisfies Record<string, Part>;

/** Every suite of `tests/surface`, by file name. */
export const parts: Readonly<Record<keyof typeof features | keyof typeof sides, Part>> = {
  ...features,
  ...sides,
};
export type PartName = keyof typeof parts;

/**
 * Suites that need a test file and a platform of their own. The other suites are modules, and one test file can run several of
 * them.
 */
const endings: Partial<Record<PartName, string>> = {
  layers: '.test.ts',
  'server-errors': '.long.test.ts',
};

/** The file in `tests/surface` that holds a suite. */
export function fileOf(name: PartName): string {
  return name + (endings[name] ?? '.ts');
}
