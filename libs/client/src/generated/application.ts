// Made from the contracts by tools/client.ts.
import type { List } from '../list.ts';
import type { CallOptions, OperationTable, WriteOptions } from '../operation.ts';
import type { Session } from '../session.ts';
import type { UploadOptions } from '../upload-options.ts';
import type {
  Collection,
  Connection,
  ConnectionRequest,
  ConnectionSettings,
  Factor,
  FactorList,
  Jwks,
  KithNotification,
  Methods,
  NotificationSettings,
  OwnNotification,
  OwnUser,
  PublicUser,
  SavedEntity,
  SessionInfo,
  SignedUp,
  StandingBlock,
  StoredFile,
  StoredImage,
} from './types.ts';

export interface CryptoMethods {
  /**
   * Signs a token for tests with the caller's own RSA key. If several fields are wrong, the error names the first wrong one, in the order `payload.id`, `payload`, `projectId`, `privateKey`. `payload` may have fields other than `id`. The token keeps these fields.
   *
   * Errors of this method: `crypto/missing-params`, `crypto/server-error`, `crypto/invalid-body`.
   */
  signTestingJwt(
    input: Methods['crypto.signTestingJwt']['input'],
    options?: CallOptions,
  ): Promise<{ token: string }>;
}

export interface AuthMethods {
  /**
   * Creates an account with e-mail address and password, and its first session.
   *
   * Errors of this method: `auth/weak-password`, `project/not-found`, `auth/sign-up-closed`, `auth/mail-unavailable`, `DUPLICATE_EMAIL`, `DUPLICATE_USERNAME`, `auth/server-error`, `auth/invalid-body`.
   */
  signUp(input: Methods['auth.signUp']['input'], options?: WriteOptions): Promise<SignedUp | Session>;
  /**
   * Opens a session with e-mail address and password.
   *
   * Errors of this method: `auth/too-many-attempts`, `auth/invalid-credentials`, `auth/suspended`, `auth/second-factor-required`, `auth/invalid-second-factor`, `auth/email-not-verified`, `project/not-found`, `auth/server-error`, `auth/invalid-body`.
   */
  signIn(input: Methods['auth.signIn']['input'], options?: CallOptions): Promise<Session>;
  /**
   * Signs in a user of the project's own backend, with a JWT that is signed with the project's key.
   *
   * Errors of this method: `project/not-found`, `auth/missing-keys`, `auth/invalid-token`, `auth/suspended`, `auth/server-error`, `auth/invalid-body`.
   */
  verifyExternalUser(
    input: Methods['auth.verifyExternalUser']['input'],
    options?: CallOptions,
  ): Promise<Session>;
  /**
   * Changes the caller's password and ends the other sessions.
   *
   * Errors of this method: `auth/weak-password`, `auth/step-up-required`, `auth/too-many-attempts`, `auth/invalid-credentials`, `auth/unauthorized`, `auth/server-error`, `auth/invalid-body`.
   */
  changePassword(
    input: Methods['auth.changePassword']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true; message: string }>;
  /**
   * The caller's sessions, newest first.
   *
   * Errors of this method: `auth/server-error`, `auth/invalid-query`.
   */
  listSessions(input?: Methods['auth.listSessions']['input'], options?: CallOptions): List<SessionInfo>;
  /**
   * Ends one of the caller's sessions.
   *
   * Errors of this method: `auth/session-not-found`, `auth/server-error`.
   */
  deleteSession(input: Methods['auth.deleteSession']['input'], options?: WriteOptions): Promise<void>;
  /**
   * The keys that verify access tokens.
   *
   * Errors of this method: `auth/server-error`.
   */
  jwks(options?: CallOptions): Promise<Jwks>;
  /**
   * Lists the caller's second factors.
   *
   * Errors of this method: `auth/server-error`.
   */
  listFactors(options?: CallOptions): Promise<FactorList>;
  /**
   * Begins to enrol a second factor. The factor takes effect when the user confirms it, which must happen within 10 minutes. Only this answer shows the secret.
   *
   * Errors of this method: `auth/invalid-rp-id`, `auth/not-password-user`, `auth/step-up-required`, `auth/too-many-factors`, `auth/unauthorized`, `auth/server-error`, `auth/invalid-body`.
   */
  enrolFactor<Chosen extends Methods['auth.enrolFactor']['input']['type']>(
    input: Methods['auth.enrolFactor']['input'] & { type: Chosen },
    options?: WriteOptions,
  ): Promise<Extract<Methods['auth.enrolFactor']['output'], { type: Chosen }>>;
  /**
   * Makes new recovery codes in place of the old ones.
   *
   * Errors of this method: `auth/factor-not-found`, `auth/step-up-required`, `auth/unauthorized`, `auth/server-error`.
   */
  renewRecoveryCodes(options?: WriteOptions): Promise<{ recoveryCodes: Array<string> }>;
  /**
   * Makes a challenge that a passkey of the caller can sign. With the signature, the caller proves again who they are.
   *
   * Errors of this method: `auth/factor-not-found`, `auth/server-error`, `auth/invalid-body`.
   */
  challengePasskey(
    input: Methods['auth.challengePasskey']['input'],
    options?: WriteOptions,
  ): Promise<Methods['auth.challengePasskey']['output']>;
  /**
   * Confirms a second factor with its first code, or with the new passkey. Confirming the first factor also makes recovery codes. Only this answer shows them.
   *
   * Errors of this method: `auth/factor-not-found`, `auth/invalid-second-factor`, `auth/step-up-required`, `auth/too-many-factors`, `auth/unauthorized`, `auth/server-error`, `auth/invalid-body`.
   */
  confirmFactor(
    input: Methods['auth.confirmFactor']['input'],
    options?: WriteOptions,
  ): Promise<{ factor: Factor; recoveryCodes: Array<string> | null }>;
  /**
   * Removes a second factor. If the user then has no second factor left, the recovery codes are removed too.
   *
   * Errors of this method: `auth/factor-not-found`, `auth/step-up-required`, `auth/unauthorized`, `auth/server-error`.
   */
  removeFactor(input: Methods['auth.removeFactor']['input'], options?: WriteOptions): Promise<void>;
  /**
   * Makes a challenge for signing in with a passkey. The caller must know the password, so that nobody else learns whether an account has second factors.
   *
   * Errors of this method: `auth/too-many-attempts`, `auth/invalid-credentials`, `auth/suspended`, `auth/email-not-verified`, `auth/factor-not-found`, `project/not-found`, `auth/server-error`, `auth/invalid-body`.
   */
  challengeSignIn(
    input: Methods['auth.challengeSignIn']['input'],
    options?: CallOptions,
  ): Promise<Methods['auth.challengeSignIn']['output']>;
  /**
   * Lets the caller prove again who they are, by password, code or passkey. The proof is valid for 5 minutes in the session of the token.
   *
   * Errors of this method: `auth/too-many-attempts`, `auth/invalid-credentials`, `auth/invalid-second-factor`, `auth/unauthorized`, `auth/server-error`, `auth/invalid-body`.
   */
  stepUp(
    input?: Methods['auth.stepUp']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true; expiresAt: string }>;
  /**
   * Sends a mail with a token that sets a new password. Neither the answer nor its timing shows whether an account has the given address.
   *
   * Errors of this method: `project/not-found`, `auth/mail-unavailable`, `auth/server-error`, `auth/invalid-body`.
   */
  requestPasswordReset(
    input: Methods['auth.requestPasswordReset']['input'],
    options?: CallOptions,
  ): Promise<{ success: true; message: string }>;
  /**
   * Sets a new password with the token of a mail, and ends every session. The token works once.
   *
   * Errors of this method: `auth/weak-password`, `auth/invalid-reset-token`, `auth/server-error`, `auth/invalid-body`.
   */
  resetPassword(
    input: Methods['auth.resetPassword']['input'],
    options?: CallOptions,
  ): Promise<{ success: true; message: string }>;
  /**
   * Sends the caller a mail that verifies the e-mail address, with a code or a link.
   *
   * Errors of this method: `auth/mail-unavailable`, `auth/invalid-redirect`, `auth/not-password-user`, `auth/unauthorized`, `auth/server-error`, `auth/invalid-body`.
   */
  sendVerificationEmail(
    input?: Methods['auth.sendVerificationEmail']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true }>;
  /**
   * Takes the token or code of a mail. Depending on the mail, the operation verifies the address, makes a new address valid, or undoes a change of address. A code of 6 digits is accepted only with its user's access token.
   *
   * Errors of this method: `auth/invalid-or-expired-token`, `DUPLICATE_EMAIL`, `auth/server-error`, `auth/invalid-body`.
   */
  verifyEmail(
    input: Methods['auth.verifyEmail']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true }>;
  /**
   * Sends a mail to the caller's new address. When `verify-email` gets the token of this mail, the new address becomes valid. Then the old address gets a mail about the change.
   *
   * Errors of this method: `auth/mail-unavailable`, `auth/step-up-required`, `auth/not-password-user`, `auth/too-many-attempts`, `auth/invalid-credentials`, `auth/unauthorized`, `DUPLICATE_EMAIL`, `auth/server-error`, `auth/invalid-body`.
   */
  changeEmail(
    input: Methods['auth.changeEmail']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true; message: string }>;
}

export interface UsersMethods {
  /**
   * A user's public profile. Server keys get the full profile, and users get it if they ask for their own.
   *
   * Errors of this method: `user/not-found`, `user/server-error`.
   */
  get(input: Methods['users.get']['input'], options?: CallOptions): Promise<OwnUser | PublicUser>;
  /**
   * Finds a user by username, without regard to case.
   *
   * Errors of this method: `user/not-found`, `user/server-error`, `user/invalid-query`.
   */
  getByUsername(
    input: Methods['users.getByUsername']['input'],
    options?: CallOptions,
  ): Promise<OwnUser | PublicUser>;
  /**
   * Finds a user by the id that the user has in the project's own backend.
   *
   * Errors of this method: `user/not-found`, `user/server-error`, `user/invalid-query`.
   */
  getByForeignId(
    input: Methods['users.getByForeignId']['input'],
    options?: CallOptions,
  ): Promise<OwnUser | PublicUser>;
  /**
   * At most 5 users whose username or name contains the query. Names that begin with the query come first. The answer is a bare array.
   *
   * Errors of this method: `user/server-error`, `user/invalid-query`.
   */
  suggest(input: Methods['users.suggest']['input'], options?: CallOptions): Promise<Array<PublicUser>>;
  /**
   * Returns whether a username is free.
   *
   * Errors of this method: `user/server-error`, `user/invalid-query`.
   */
  checkUsername(
    input: Methods['users.checkUsername']['input'],
    options?: CallOptions,
  ): Promise<{ available: boolean }>;
  /**
   * Changes the caller's own profile. A server key can change the profile of any user of its project. It can also change `role` and `reputation`.
   *
   * Errors of this method: `user/not-found`, `auth/forbidden`, `DUPLICATE_USERNAME`, `user/server-error`, `user/invalid-body`.
   */
  update(input: Methods['users.update']['input'], options?: WriteOptions): Promise<OwnUser>;
  /**
   * Erases the caller's account. An event makes every service erase its data about the user.
   *
   * Errors of this method: `user/not-found`, `auth/forbidden`, `auth/step-up-required`, `auth/unauthorized`, `user/server-error`.
   */
  delete(input: Methods['users.delete']['input'], options?: WriteOptions): Promise<void>;
  /**
   * All data about the caller in all services, as one JSON document that can be saved as a file. The gateway sends the document while it reads the data. If the connection ends before the document is complete, the export has failed.
   *
   * Errors of this method: `user/not-found`, `auth/forbidden`, `auth/step-up-required`, `auth/unauthorized`, `auth/server-error`, `connection/server-error`, `collection/server-error`, `app-notification/server-error`, `storage/server-error`, `user/server-error`.
   */
  export(
    input: Methods['users.export']['input'],
    options?: CallOptions,
  ): Promise<Methods['users.export']['output']>;
}

export interface ConnectionsMethods {
  /**
   * Asks another user to connect.
   *
   * Errors of this method: `connection/self-request`, `connection/user-not-found`, `connection/not-allowed`, `connection/request-pending`, `connection/already-connected`, `connection/request-declined`, `connection/invalid-message`, `connection/server-error`, `connection/invalid-body`.
   */
  request(
    input: Methods['connections.request']['input'],
    options?: WriteOptions,
  ): Promise<{ id: string; status: 'pending'; createdAt: string }>;
  /**
   * The relation between the caller and another user. The answer does not show whether one of them blocks the other.
   *
   * Errors of this method: `connection/self-check`, `connection/user-not-found`, `connection/server-error`.
   */
  getStatus(
    input: Methods['connections.getStatus']['input'],
    options?: CallOptions,
  ): Promise<Methods['connections.getStatus']['output']>;
  /**
   * Ends the request or connection between the caller and another user: withdraws the caller's request, declines the other user's request, or ends the connection.
   *
   * Errors of this method: `connection/self-disconnect`, `connection/not-found`, `connection/server-error`.
   */
  deleteWithUser(
    input: Methods['connections.deleteWithUser']['input'],
    options?: WriteOptions,
  ): Promise<Methods['connections.deleteWithUser']['output']>;
  /**
   * A user's established connections. Anyone may see them, unless the project shows them only to its users. If the caller is signed in, rows and totals leave out users whom the caller blocks, and users who block the caller. If such a block exists between the caller and the user in the path, the list is empty.
   *
   * Errors of this method: `connection/user-not-found`, `connection/server-error`, `connection/invalid-query`.
   */
  listOfUser(input: Methods['connections.listOfUser']['input'], options?: CallOptions): List<Connection>;
  /**
   * How many established connections a user has. The number equals the total of the list that the caller would get.
   *
   * Errors of this method: `connection/user-not-found`, `connection/server-error`.
   */
  countOfUser(
    input: Methods['connections.countOfUser']['input'],
    options?: CallOptions,
  ): Promise<{ count: number }>;
  /**
   * The caller's established connections, newest first.
   *
   * Errors of this method: `connection/server-error`, `connection/invalid-query`.
   */
  list(input?: Methods['connections.list']['input'], options?: CallOptions): List<Connection>;
  /**
   * How many established connections the caller has.
   *
   * Errors of this method: `connection/server-error`.
   */
  count(options?: CallOptions): Promise<{ count: number }>;
  /**
   * The caller's requests that wait for an answer, newest first.
   *
   * Errors of this method: `connection/server-error`, `connection/invalid-query`.
   */
  listSent(input?: Methods['connections.listSent']['input'], options?: CallOptions): List<ConnectionRequest>;
  /**
   * The requests that wait for the caller's answer, newest first.
   *
   * Errors of this method: `connection/server-error`, `connection/invalid-query`.
   */
  listReceived(
    input?: Methods['connections.listReceived']['input'],
    options?: CallOptions,
  ): List<ConnectionRequest>;
  /**
   * Accepts a pending request. Only the receiver may do this.
   *
   * Errors of this method: `connection/not-found`, `connection/unauthorized`, `connection/server-error`.
   */
  accept(
    input: Methods['connections.accept']['input'],
    options?: WriteOptions,
  ): Promise<{ id: string; status: 'accepted'; respondedAt: string }>;
  /**
   * Declines a pending request. Only the receiver may do this.
   *
   * Errors of this method: `connection/not-found`, `connection/unauthorized`, `connection/server-error`.
   */
  decline(
    input: Methods['connections.decline']['input'],
    options?: WriteOptions,
  ): Promise<{ id: string; status: 'declined'; respondedAt: string }>;
  /**
   * Withdraws a pending request, or ends a connection. Only the requester may withdraw the request. Either of the two users may end the connection.
   *
   * Errors of this method: `connection/not-found`, `connection/unauthorized`, `connection/server-error`.
   */
  delete(input: Methods['connections.delete']['input'], options?: WriteOptions): Promise<{ message: string }>;
  /**
   * Blocks a user. The block ends the connection or request between the two users. While the block lasts, each of the two users is hidden from the other. A declined request stays declined, so blocking and unblocking a user does not allow a second request.
   *
   * Errors of this method: `connection/self-block`, `connection/user-not-found`, `connection/server-error`.
   */
  block(input: Methods['connections.block']['input'], options?: WriteOptions): Promise<void>;
  /**
   * Takes back the caller's block of a user.
   *
   * Errors of this method: `connection/self-block`, `connection/user-not-found`, `connection/server-error`.
   */
  unblock(input: Methods['connections.unblock']['input'], options?: WriteOptions): Promise<void>;
  /**
   * The users whom the caller blocks, newest block first.
   *
   * Errors of this method: `connection/server-error`, `connection/invalid-query`.
   */
  listBlocks(input?: Methods['connections.listBlocks']['input'], options?: CallOptions): List<StandingBlock>;
  /**
   * Who may ask the caller to connect, and whether others see the caller's connections.
   *
   * Errors of this method: `connection/server-error`.
   */
  getSettings(options?: CallOptions): Promise<ConnectionSettings>;
  /**
   * Changes the given settings. All other settings stay unchanged.
   *
   * Errors of this method: `connection/server-error`, `connection/invalid-body`.
   */
  updateSettings(
    input?: Methods['connections.updateSettings']['input'],
    options?: WriteOptions,
  ): Promise<ConnectionSettings>;
}

export interface CollectionsMethods {
  /**
   * The caller's root collection. It is created when it is first needed.
   *
   * Errors of this method: `collection/server-error`.
   */
  getRoot(options?: CallOptions): Promise<Collection>;
  /**
   * Creates a collection below another collection of the caller.
   *
   * Errors of this method: `collection/invalid-parent`, `collection/too-deep`, `collection/invalid-name`, `collection/server-error`, `collection/invalid-body`.
   */
  createSubCollection(
    input: Methods['collections.createSubCollection']['input'],
    options?: WriteOptions,
  ): Promise<Collection>;
  /**
   * The collections directly below a collection, oldest first, as a bare array. A `Link` header leads to the next page.
   *
   * Errors of this method: `collection/not-found`, `collection/server-error`, `collection/invalid-query`.
   */
  listSubCollections(
    input: Methods['collections.listSubCollections']['input'],
    options?: CallOptions,
  ): List<Collection>;
  /**
   * Renames a collection of the caller. The root collection cannot be renamed.
   *
   * Errors of this method: `collection/not-found`, `collection/invalid-name`, `collection/server-error`, `collection/invalid-body`.
   */
  rename(input: Methods['collections.rename']['input'], options?: WriteOptions): Promise<Collection>;
  /**
   * Deletes a collection and all collections below it. From then on, no request finds them. The root cannot be deleted.
   *
   * Errors of this method: `collection/not-found`, `collection/server-error`.
   */
  delete(input: Methods['collections.delete']['input'], options?: WriteOptions): Promise<void>;
  /**
   * The entities in a collection, newest first, or oldest first with `sortDir=asc`.
   *
   * Errors of this method: `collection/not-found`, `collection/server-error`, `collection/invalid-query`.
   */
  listEntities(input: Methods['collections.listEntities']['input'], options?: CallOptions): List<SavedEntity>;
  /**
   * Saves an entity in a collection. An entity that is already saved stays as it is, with its first `metadata`.
   *
   * Errors of this method: `collection/not-found`, `collection/server-error`, `collection/invalid-body`.
   */
  addEntity(
    input: Methods['collections.addEntity']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true; collection: { id: string; entityCount: number } }>;
  /**
   * Removes an entity from a collection. It is not an error if the collection does not contain the entity.
   *
   * Errors of this method: `collection/not-found`, `collection/server-error`.
   */
  removeEntity(
    input: Methods['collections.removeEntity']['input'],
    options?: WriteOptions,
  ): Promise<{ success: true; collection: { id: string; entityCount: number } }>;
  /**
   * The caller's collections that contain an entity, oldest collection first, at most 1,000 of them.
   *
   * Errors of this method: `collection/server-error`, `collection/invalid-query`.
   */
  isEntitySaved(
    input: Methods['collections.isEntitySaved']['input'],
    options?: CallOptions,
  ): Promise<{ saved: boolean; collections: Array<{ id: string; name: string }> }>;
}

export interface NotificationsMethods {
  /**
   * The caller's notifications, newest first. Under an explicit `/api/v6`, the answer is a bare array.
   *
   * Errors of this method: `app-notification/server-error`, `app-notification/invalid-query`.
   */
  list(
    input?: Methods['notifications.list']['input'],
    options?: CallOptions,
  ): List<KithNotification | OwnNotification>;
  /**
   * How many of the caller's notifications are unread. The answer is a bare number.
   *
   * Errors of this method: `app-notification/server-error`.
   */
  count(options?: CallOptions): Promise<number>;
  /**
   * Marks one notification as read. Repeating the call changes nothing.
   *
   * Errors of this method: `app-notification/not-found`, `app-notification/server-error`.
   */
  markAsRead(
    input: Methods['notifications.markAsRead']['input'],
    options?: WriteOptions,
  ): Promise<KithNotification | OwnNotification>;
  /**
   * Marks all unread notifications as read, and returns how many there were.
   *
   * Errors of this method: `app-notification/server-error`.
   */
  markAllAsRead(options?: WriteOptions): Promise<{ markedAsRead: number }>;
  /**
   * Which types of notifications the caller gets.
   *
   * Errors of this method: `app-notification/server-error`.
   */
  getSettings(options?: CallOptions): Promise<NotificationSettings>;
  /**
   * Turns the given types on or off.
   *
   * Errors of this method: `app-notification/server-error`, `app-notification/invalid-body`.
   */
  updateSettings(
    input?: Methods['notifications.updateSettings']['input'],
    options?: WriteOptions,
  ): Promise<NotificationSettings>;
}

export interface StorageMethods {
  /**
   * Stores an image, upright and without metadata. Also stores smaller sizes of it.
   *
   * Errors of this method: `storage/no-file`, `storage/invalid-image`, `storage/file-too-large`, `storage/quota-exceeded`, `storage/server-error`, `storage/invalid-body`.
   */
  createImage(input: Methods['storage.createImage']['input'], options?: UploadOptions): Promise<StoredImage>;
  /**
   * Stores any bytes as a file.
   *
   * Errors of this method: `storage/no-file`, `storage/file-too-large`, `storage/quota-exceeded`, `storage/server-error`.
   */
  createFile(input: Methods['storage.createFile']['input'], options?: UploadOptions): Promise<StoredFile>;
  /**
   * The caller's own files and images, newest first.
   *
   * Errors of this method: `storage/server-error`, `storage/invalid-query`.
   */
  listFiles(
    input?: Methods['storage.listFiles']['input'],
    options?: CallOptions,
  ): List<StoredImage | StoredFile>;
  /**
   * The bytes of a file, or of an image in its full size.
   *
   * Errors of this method: `storage/not-found`, `storage/invalid-range`, `request/precondition-failed`, `storage/server-error`.
   */
  getFile(input: Methods['storage.getFile']['input'], options?: CallOptions): Promise<Response>;
  /**
   * The bytes of an image in one of its sizes.
   *
   * Errors of this method: `storage/not-found`, `storage/invalid-range`, `request/precondition-failed`, `storage/server-error`.
   */
  getFileVariant(input: Methods['storage.getFileVariant']['input'], options?: CallOptions): Promise<Response>;
  /**
   * Deletes one of the caller's files. From then on, nobody can get the file.
   *
   * Errors of this method: `storage/not-found`, `auth/forbidden`, `storage/server-error`.
   */
  deleteFile(input: Methods['storage.deleteFile']['input'], options?: WriteOptions): Promise<void>;
}

export interface ProjectsMethods {
  /**
   * The project data that older client libraries read before anybody has signed in.
   *
   * Errors of this method: `project/not-found`, `project/server-error`.
   */
  getLean(options?: CallOptions): Promise<{ id: string; name: string; integrations: Array<never> }>;
}

/** All groups of methods. */
export interface MethodGroups {
  readonly crypto: CryptoMethods;
  readonly auth: AuthMethods;
  readonly users: UsersMethods;
  readonly connections: ConnectionsMethods;
  readonly collections: CollectionsMethods;
  readonly notifications: NotificationsMethods;
  readonly storage: StorageMethods;
  readonly projects: ProjectsMethods;
}

export const operations = {
  crypto: {
    signTestingJwt: { method: 'POST', path: '/crypto/sign-testing-jwt', auth: 'none', takesInput: true },
  },
  auth: {
    signUp: {
      method: 'POST',
      path: '/auth/sign-up',
      auth: 'none',
      startsSession: true,
      takesKey: true,
      takesInput: true,
    },
    signIn: { method: 'POST', path: '/auth/sign-in', auth: 'none', startsSession: true, takesInput: true },
    verifyExternalUser: {
      method: 'POST',
      path: '/auth/verify-external-user',
      auth: 'none',
      startsSession: true,
      takesInput: true,
    },
    changePassword: {
      method: 'POST',
      path: '/auth/change-password',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    listSessions: { method: 'GET', path: '/auth/sessions', auth: 'user', list: 'data', takesInput: true },
    deleteSession: {
      method: 'DELETE',
      path: '/auth/sessions/:sessionId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    jwks: { method: 'GET', path: '/.well-known/jwks.json', auth: 'none', isGlobal: true },
    listFactors: { method: 'GET', path: '/auth/factors', auth: 'user' },
    enrolFactor: { method: 'POST', path: '/auth/factors', auth: 'user', takesKey: true, takesInput: true },
    renewRecoveryCodes: {
      method: 'POST',
      path: '/auth/factors/recovery-codes',
      auth: 'user',
      takesKey: true,
    },
    challengePasskey: {
      method: 'POST',
      path: '/auth/factors/passkey-challenge',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    confirmFactor: {
      method: 'POST',
      path: '/auth/factors/:factorId/confirm',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    removeFactor: {
      method: 'DELETE',
      path: '/auth/factors/:factorId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    challengeSignIn: {
      method: 'POST',
      path: '/auth/sign-in/passkey-challenge',
      auth: 'none',
      takesInput: true,
    },
    stepUp: { method: 'POST', path: '/auth/step-up', auth: 'user', takesKey: true, takesInput: true },
    requestPasswordReset: {
      method: 'POST',
      path: '/auth/request-password-reset',
      auth: 'none',
      takesInput: true,
    },
    resetPassword: { method: 'POST', path: '/auth/reset-password', auth: 'none', takesInput: true },
    sendVerificationEmail: {
      method: 'POST',
      path: '/auth/send-verification-email',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    verifyEmail: {
      method: 'POST',
      path: '/auth/verify-email',
      auth: 'optional',
      takesKey: true,
      takesInput: true,
    },
    changeEmail: {
      method: 'POST',
      path: '/auth/change-email',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
  },
  users: {
    get: { method: 'GET', path: '/users/:userId', auth: 'optional', takesInput: true },
    getByUsername: { method: 'GET', path: '/users/by-username', auth: 'optional', takesInput: true },
    getByForeignId: { method: 'GET', path: '/users/by-foreign-id', auth: 'optional', takesInput: true },
    suggest: { method: 'GET', path: '/users/suggestions', auth: 'optional', takesInput: true },
    checkUsername: { method: 'GET', path: '/users/check-username', auth: 'none', takesInput: true },
    update: { method: 'PATCH', path: '/users/:userId', auth: 'user', takesKey: true, takesInput: true },
    delete: { method: 'DELETE', path: '/users/:userId', auth: 'user', takesKey: true, takesInput: true },
    export: { method: 'GET', path: '/users/:userId/export', auth: 'user', takesInput: true },
  },
  connections: {
    request: {
      method: 'POST',
      path: '/users/:userId/connection',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    getStatus: { method: 'GET', path: '/users/:userId/connection', auth: 'user', takesInput: true },
    deleteWithUser: {
      method: 'DELETE',
      path: '/users/:userId/connection',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    listOfUser: {
      method: 'GET',
      path: '/users/:userId/connections',
      auth: 'optional',
      list: 'connections',
      takesInput: true,
    },
    countOfUser: {
      method: 'GET',
      path: '/users/:userId/connections-count',
      auth: 'optional',
      takesInput: true,
    },
    list: { method: 'GET', path: '/connections', auth: 'user', list: 'connections', takesInput: true },
    count: { method: 'GET', path: '/connections/count', auth: 'user' },
    listSent: {
      method: 'GET',
      path: '/connections/pending/sent',
      auth: 'user',
      list: 'requests',
      takesInput: true,
    },
    listReceived: {
      method: 'GET',
      path: '/connections/pending/received',
      auth: 'user',
      list: 'requests',
      takesInput: true,
    },
    accept: {
      method: 'PATCH',
      path: '/connections/:connectionId/accept',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    decline: {
      method: 'PATCH',
      path: '/connections/:connectionId/decline',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    delete: {
      method: 'DELETE',
      path: '/connections/:connectionId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    block: { method: 'POST', path: '/users/:userId/block', auth: 'user', takesKey: true, takesInput: true },
    unblock: {
      method: 'DELETE',
      path: '/users/:userId/block',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    listBlocks: { method: 'GET', path: '/blocks', auth: 'user', list: 'data', takesInput: true },
    getSettings: { method: 'GET', path: '/connections/settings', auth: 'user' },
    updateSettings: {
      method: 'PATCH',
      path: '/connections/settings',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
  },
  collections: {
    getRoot: { method: 'GET', path: '/collections/root', auth: 'user' },
    createSubCollection: {
      method: 'POST',
      path: '/collections/:collectionId/sub-collections',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    listSubCollections: {
      method: 'GET',
      path: '/collections/:collectionId/sub-collections',
      auth: 'user',
      list: '',
      takesInput: true,
    },
    rename: {
      method: 'PATCH',
      path: '/collections/:collectionId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    delete: {
      method: 'DELETE',
      path: '/collections/:collectionId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    listEntities: {
      method: 'GET',
      path: '/collections/:collectionId/entities',
      auth: 'user',
      list: 'data',
      takesInput: true,
    },
    addEntity: {
      method: 'POST',
      path: '/collections/:collectionId/entities',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    removeEntity: {
      method: 'DELETE',
      path: '/collections/:collectionId/entities/:entityId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    isEntitySaved: { method: 'GET', path: '/entities/is-entity-saved', auth: 'user', takesInput: true },
  },
  notifications: {
    list: { method: 'GET', path: '/app-notifications', auth: 'user', list: 'data', takesInput: true },
    count: { method: 'GET', path: '/app-notifications/count', auth: 'user' },
    markAsRead: {
      method: 'PATCH',
      path: '/app-notifications/:notificationId/mark-as-read',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
    markAllAsRead: {
      method: 'PATCH',
      path: '/app-notifications/mark-all-as-read',
      auth: 'user',
      takesKey: true,
    },
    getSettings: { method: 'GET', path: '/app-notifications/settings', auth: 'user' },
    updateSettings: {
      method: 'PATCH',
      path: '/app-notifications/settings',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
  },
  storage: {
    createImage: { method: 'POST', path: '/storage/images', auth: 'user', upload: 'file', takesInput: true },
    createFile: { method: 'POST', path: '/storage/files', auth: 'user', upload: 'file', takesInput: true },
    listFiles: { method: 'GET', path: '/storage/files', auth: 'user', list: 'data', takesInput: true },
    getFile: {
      method: 'GET',
      path: '/storage/files/:fileId',
      auth: 'none',
      givesBytes: true,
      takesInput: true,
    },
    getFileVariant: {
      method: 'GET',
      path: '/storage/files/:fileId/:variant',
      auth: 'none',
      givesBytes: true,
      takesInput: true,
    },
    deleteFile: {
      method: 'DELETE',
      path: '/storage/files/:fileId',
      auth: 'user',
      takesKey: true,
      takesInput: true,
    },
  },
  projects: {
    getLean: { method: 'GET', path: '/projects/lean', auth: 'none' },
  },
} satisfies OperationTable;

/** The operations that the handwritten methods of the client call. */
export const managed = {
  signOut: { method: 'POST', path: '/auth/sign-out', auth: 'none' },
  requestNewAccessToken: { method: 'POST', path: '/auth/request-new-access-token', auth: 'none' },
  stream: { method: 'GET', path: '/app-notifications/stream', auth: 'user' },
} as const;
