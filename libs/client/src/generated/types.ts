// Made from the contracts by tools/client.ts.

import type { UploadSource } from '../upload-options.ts';

/** What JSON can hold. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * Error codes that every call may get. They come from the layers that a request passes before it reaches its operation, and
 * from the refresh of an access token.
 */
export type CommonErrorCode =
  | 'request/invalid-http'
  | 'request/invalid-json'
  | 'request/invalid-multipart'
  | 'request/unknown-field'
  | 'request/invalid-idempotency-key'
  | 'request/in-progress'
  | 'request/idempotency-mismatch'
  | 'request/timeout'
  | 'request/precondition-failed'
  | 'request/too-large'
  | 'request/unsupported-media-type'
  | 'request/expectation-failed'
  | 'request/headers-too-large'
  | 'route/not-found'
  | 'route/method-not-allowed'
  | 'rate-limit/exceeded'
  | 'gateway/unavailable'
  | 'gateway/timeout'
  | 'gateway/server-error'
  | 'auth/unauthorized'
  | 'auth/forbidden'
  | 'auth/suspended'
  | 'auth/token-reuse-detected'
  | 'auth/server-error'
  | 'project/invalid-id'
  | 'project/not-found';

/** Every code of the API. */
export type ErrorCode =
  | CommonErrorCode
  | 'auth/token-expired'
  | 'auth/invalid-credentials'
  | 'auth/too-many-attempts'
  | 'auth/missing-keys'
  | 'auth/invalid-token'
  | 'auth/key-not-found'
  | 'auth/session-not-found'
  | 'auth/invalid-body'
  | 'auth/invalid-query'
  | 'auth/weak-password'
  | 'auth/not-password-user'
  | 'auth/second-factor-required'
  | 'auth/invalid-second-factor'
  | 'auth/step-up-required'
  | 'auth/factor-not-found'
  | 'auth/too-many-factors'
  | 'auth/invalid-rp-id'
  | 'auth/mail-unavailable'
  | 'auth/sign-up-closed'
  | 'auth/email-not-verified'
  | 'auth/invalid-reset-token'
  | 'auth/invalid-or-expired-token'
  | 'auth/invalid-redirect'
  | 'user/not-found'
  | 'user/invalid-body'
  | 'user/invalid-query'
  | 'user/server-error'
  | 'project/invalid-body'
  | 'project/invalid-query'
  | 'project/server-error'
  | 'crypto/missing-params'
  | 'crypto/invalid-body'
  | 'crypto/invalid-query'
  | 'crypto/server-error'
  | 'collection/not-found'
  | 'collection/invalid-name'
  | 'collection/invalid-parent'
  | 'collection/too-deep'
  | 'collection/invalid-body'
  | 'collection/invalid-query'
  | 'collection/server-error'
  | 'connection/not-found'
  | 'connection/user-not-found'
  | 'connection/self-request'
  | 'connection/self-check'
  | 'connection/self-disconnect'
  | 'connection/self-block'
  | 'connection/not-allowed'
  | 'connection/request-pending'
  | 'connection/already-connected'
  | 'connection/request-declined'
  | 'connection/unauthorized'
  | 'connection/invalid-message'
  | 'connection/invalid-body'
  | 'connection/invalid-query'
  | 'connection/server-error'
  | 'app-notification/not-found'
  | 'app-notification/invalid-body'
  | 'app-notification/invalid-query'
  | 'app-notification/server-error'
  | 'storage/not-found'
  | 'storage/no-file'
  | 'storage/invalid-image'
  | 'storage/file-too-large'
  | 'storage/quota-exceeded'
  | 'storage/invalid-range'
  | 'storage/invalid-body'
  | 'storage/invalid-query'
  | 'storage/server-error'
  | 'DUPLICATE_EMAIL'
  | 'DUPLICATE_USERNAME';

export interface SignedUp {
  success: true;
  accessToken: string | null;
  refreshToken: string | null;
  user: OwnUser;
}

export interface OwnUser {
  id: string;
  foreignId: string | null;
  projectId: string;
  role: string;
  name: string | null;
  username: string | null;
  avatar: string | null;
  bannerFileId: string | null;
  avatarFileId: string | null;
  bio: string | null;
  birthdate: string | null;
  location: string | null;
  metadata: Record<string, Json>;
  reputation: number;
  createdAt: string;
  email: string | null;
  isVerified: boolean;
  isActive: boolean;
  lastActive: string | null;
  updatedAt: string;
}

export interface SessionAnswer {
  success: true;
  accessToken: string;
  refreshToken: string;
  user: OwnUser;
}

export interface SessionInfo {
  id: string;
  createdAt: string;
  lastUsedAt: string;
  userAgent: string | null;
  ip: string | null;
  current: boolean;
}

export interface Jwks {
  keys: Array<{ kty: string; kid: string; [key: string]: unknown }>;
}

export interface FactorList {
  factors: Array<Factor>;
  recoveryCodesLeft: number;
}

export interface Factor {
  id: string;
  type: 'totp' | 'passkey';
  name: string | null;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface PublicUser {
  id: string;
  foreignId: string | null;
  projectId: string;
  role: string;
  name: string | null;
  username: string | null;
  avatar: string | null;
  bannerFileId: string | null;
  avatarFileId: string | null;
  bio: string | null;
  birthdate: string | null;
  location: string | null;
  metadata: Record<string, Json>;
  reputation: number;
  createdAt: string;
}

export interface StoredFile {
  fileId: string;
  originalPath: string;
  originalSize: number;
  type: 'file';
  name: string;
  contentType: string;
  createdAt: string;
}

export interface StoredImage {
  fileId: string;
  originalPath: string;
  originalSize: number;
  type: 'image';
  originalWidth: number;
  originalHeight: number;
  variants: Record<
    string,
    {
      publicPath: string;
      width: number;
      height: number;
      size: number;
      format: 'jpeg' | 'png' | 'webp' | 'gif' | 'avif';
    }
  >;
  format: 'jpeg' | 'png' | 'webp' | 'gif' | 'avif';
  quality: number;
  createdAt: string;
}

export interface NotificationSettings {
  types: Record<string, boolean>;
}

export interface OwnNotification {
  id: string;
  projectId: string;
  userId: string;
  type: string;
  action: string | null;
  isRead: boolean;
  metadata: Record<string, Json>;
  createdAt: string;
  updatedAt: string;
}

export interface KithNotification {
  id: string;
  projectId: string;
  userId: string;
  type: 'connection-request' | 'connection-accepted';
  action: 'open-profile';
  isRead: boolean;
  metadata: {
    connectionId: string;
    initiatorId: string;
    initiatorName: string | null;
    initiatorUsername: string | null;
    initiatorAvatar: string | null;
  };
  createdAt: string;
  updatedAt: string;
}

export interface Collection {
  id: string;
  projectId: string;
  userId: string;
  parentId: string | null;
  name: string;
  isRoot: boolean;
  entityCount: number;
  createdAt: string;
  updatedAt: string;
}

export interface ConnectionSettings {
  requestsFrom: 'everyone' | 'common' | 'nobody';
  showsConnections: boolean;
}

export interface StandingBlock {
  id: string;
  user: PublicUser;
  createdAt: string;
}

export interface ConnectionRequest {
  id: string;
  type: 'sent' | 'received';
  user: PublicUser;
  message: string | null;
  createdAt: string;
}

export interface Connection {
  id: string;
  connectedUser: PublicUser;
  connectedAt: string;
  requestedAt: string;
  message: string | null;
}

export interface SavedEntity {
  id: string;
  isSaved: true;
  addedAt: string;
  metadata: Record<string, Json> | null;
}

export interface MailTexts {
  passwordReset?: { subject: string; text: string } | undefined;
  verificationLink?: { subject: string; text: string } | undefined;
  verificationCode?: { subject: string; text: string } | undefined;
  emailChange?: { subject: string; text: string } | undefined;
  emailChanged?: { subject: string; text: string } | undefined;
  factorAdded?: { subject: string; text: string } | undefined;
  factorRemoved?: { subject: string; text: string } | undefined;
  recoveryCodesRenewed?: { subject: string; text: string } | undefined;
}

export interface Project {
  id: string;
  name: string;
  publicKey: string | null;
  limits: Record<string, { max: number; windowSeconds: number } | null>;
  webOrigins: Array<string>;
  publicProfiles: 'card' | 'all' | 'none';
  publicConnections: boolean;
  storageMib: number | null;
  externalTokenMaxAge: number;
  signUp: 'open' | 'closed';
  requireVerifiedEmail: boolean;
  mailLinkBase: string | null;
  mailTexts: MailTexts;
  createdAt: string;
  updatedAt: string;
  deletion: { since: string; usersLeft: number } | null;
}

export interface DeletedProject {
  id: string;
  status: 'deleting';
}

export interface ProjectUser {
  id: string;
  foreignId: string | null;
  projectId: string;
  role: string;
  name: string | null;
  username: string | null;
  avatar: string | null;
  bannerFileId: string | null;
  avatarFileId: string | null;
  bio: string | null;
  birthdate: string | null;
  location: string | null;
  metadata: Record<string, Json>;
  reputation: number;
  createdAt: string;
  email: string | null;
  isVerified: boolean;
  isActive: boolean;
  lastActive: string | null;
  updatedAt: string;
  suspension: { at: string; until: string | null; reason: string | null } | null;
}

export interface ImportedUser {
  id?: string | undefined;
  foreignId?: string | undefined;
  email?: string | null | undefined;
  passwordHash?: string | null | undefined;
  username?: string | null | undefined;
  name?: string | null | undefined;
  avatar?: string | null | undefined;
  bio?: string | null | undefined;
  location?: string | null | undefined;
  birthdate?: string | null | undefined;
  metadata?: Record<string, Json> | null | undefined;
  role?: string | undefined;
  reputation?: number | undefined;
  isVerified?: boolean | undefined;
  createdAt?: string | undefined;
}

export interface ImportResult {
  imported: number;
  unchanged: number;
  rejected: Array<{
    row: number;
    reason:
      | 'id-taken'
      | 'foreign-id-taken'
      | 'email-taken'
      | 'username-taken'
      | 'conflict'
      | 'too-many-hash-kinds'
      | 'hashes-too-costly'
      | 'user-not-found'
      | 'same-user'
      | 'pair-taken'
      | 'parent-not-found'
      | 'too-deep'
      | 'deleted'
      | 'collection-not-found'
      | 'invalid-image'
      | 'quota-exceeded';
    fields?: Array<string> | undefined;
  }>;
}

export interface ImportedConnection {
  id?: string | undefined;
  requesterId?: string | undefined;
  requesterForeignId?: string | undefined;
  receiverId?: string | undefined;
  receiverForeignId?: string | undefined;
  state?: 'pending' | 'accepted' | 'declined' | undefined;
  message?: string | null | undefined;
  requestedAt: string;
  connectedAt?: string | undefined;
}

export interface ImportedCollection {
  userId?: string | undefined;
  userForeignId?: string | undefined;
  id: string;
  parentId?: string | null | undefined;
  name: string;
  createdAt: string;
}

export interface ImportedEntity {
  userId?: string | undefined;
  userForeignId?: string | undefined;
  collectionId?: string | null | undefined;
  entityId: string;
  addedAt: string;
  metadata?: Record<string, Json> | null | undefined;
}

export interface SigningKey {
  kid: string;
  state: 'published' | 'signing' | 'verifying';
  createdAt: string;
  signsFrom: string;
}

export interface OperatorKey {
  id: string;
  name: string;
  scopes: Array<
    'projects:read' | 'projects:write' | 'users:read' | 'users:write' | 'keys:write' | 'audit:read'
  >;
  projectIds: Array<string> | null;
  expiresAt: string | null;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface ServerKey {
  id: string;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface AuditRow {
  id: string;
  at: string;
  actor: string;
  action: string;
  projectId: string | null;
  target: string | null;
  ip: string;
  requestId: string;
  outcome: string;
  count: number;
}

/** The input, the output and the error codes of each method, by the method's name in the client. */
export interface Methods {
  'crypto.signTestingJwt': {
    operation: 'crypto.sign-testing-jwt';
    input: { payload: { id: string; [key: string]: unknown }; projectId: string; privateKey: string };
    output: { token: string };
    errors: 'crypto/missing-params' | 'crypto/server-error' | 'crypto/invalid-body';
  };
  'auth.signUp': {
    operation: 'identity.sign-up';
    input: {
      email: string;
      password: string;
      username?: string | null | undefined;
      name?: string | null | undefined;
      avatar?: string | null | undefined;
      bio?: string | null | undefined;
      location?: string | null | undefined;
      birthdate?: string | null | undefined;
      metadata?: Record<string, Json> | null | undefined;
    };
    output: SignedUp;
    errors:
      | 'auth/weak-password'
      | 'project/not-found'
      | 'auth/sign-up-closed'
      | 'auth/mail-unavailable'
      | 'DUPLICATE_EMAIL'
      | 'DUPLICATE_USERNAME'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.signIn': {
    operation: 'identity.sign-in';
    input: {
      email: string;
      password: string;
      code?: string | null | undefined;
      passkey?:
        | {
            id: string;
            type: 'public-key';
            response: { clientDataJSON: string; authenticatorData: string; signature: string };
          }
        | null
        | undefined;
    };
    output: SessionAnswer;
    errors:
      | 'auth/too-many-attempts'
      | 'auth/invalid-credentials'
      | 'auth/suspended'
      | 'auth/second-factor-required'
      | 'auth/invalid-second-factor'
      | 'auth/email-not-verified'
      | 'project/not-found'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.verifyExternalUser': {
    operation: 'identity.verify-external-user';
    input: { userJwt: string };
    output: SessionAnswer;
    errors:
      | 'project/not-found'
      | 'auth/missing-keys'
      | 'auth/invalid-token'
      | 'auth/suspended'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.changePassword': {
    operation: 'identity.change-password';
    input: { password: string; newPassword: string };
    output: { success: true; message: string };
    errors:
      | 'auth/weak-password'
      | 'auth/step-up-required'
      | 'auth/too-many-attempts'
      | 'auth/invalid-credentials'
      | 'auth/unauthorized'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.listSessions': {
    operation: 'identity.list-sessions';
    input: { page?: number | undefined; limit?: number | undefined; cursor?: string | undefined };
    output: Array<SessionInfo>;
    errors: 'auth/server-error' | 'auth/invalid-query';
  };
  'auth.deleteSession': {
    operation: 'identity.delete-session';
    input: { sessionId: string };
    output: undefined;
    errors: 'auth/session-not-found' | 'auth/server-error';
  };
  'auth.jwks': {
    operation: 'identity.jwks';
    input: undefined;
    output: Jwks;
    errors: 'auth/server-error';
  };
  'auth.listFactors': {
    operation: 'identity.list-factors';
    input: undefined;
    output: FactorList;
    errors: 'auth/server-error';
  };
  'auth.enrolFactor': {
    operation: 'identity.enrol-factor';
    input: { type: 'totp' | 'passkey'; name?: string | null | undefined; rpId?: string | undefined };
    output:
      | { id: string; name: string | null; expiresAt: string; type: 'totp'; secret: string; url: string }
      | {
          id: string;
          name: string | null;
          expiresAt: string;
          type: 'passkey';
          options: {
            rp: { id: string; name: string };
            user: { id: string; name: string; displayName: string };
            challenge: string;
            pubKeyCredParams: Array<{ type: 'public-key'; alg: number }>;
            timeout: number;
            excludeCredentials: Array<{ type: 'public-key'; id: string; transports: Array<string> }>;
            authenticatorSelection: { residentKey: 'preferred'; userVerification: 'required' };
            attestation: 'none';
          };
        };
    errors:
      | 'auth/invalid-rp-id'
      | 'auth/not-password-user'
      | 'auth/step-up-required'
      | 'auth/too-many-factors'
      | 'auth/unauthorized'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.renewRecoveryCodes': {
    operation: 'identity.renew-recovery-codes';
    input: undefined;
    output: { recoveryCodes: Array<string> };
    errors: 'auth/factor-not-found' | 'auth/step-up-required' | 'auth/unauthorized' | 'auth/server-error';
  };
  'auth.challengePasskey': {
    operation: 'identity.challenge-passkey';
    input: { rpId: string };
    output: {
      challenge: string;
      rpId: string;
      timeout: number;
      userVerification: 'required';
      allowCredentials: Array<{ type: 'public-key'; id: string; transports: Array<string> }>;
    };
    errors: 'auth/factor-not-found' | 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.confirmFactor': {
    operation: 'identity.confirm-factor';
    input: {
      factorId: string;
      code?: string | null | undefined;
      passkey?:
        | {
            id: string;
            type: 'public-key';
            response: {
              clientDataJSON: string;
              authenticatorData: string;
              publicKey: string;
              publicKeyAlgorithm: number;
              transports?: Array<string> | undefined;
            };
          }
        | null
        | undefined;
    };
    output: { factor: Factor; recoveryCodes: Array<string> | null };
    errors:
      | 'auth/factor-not-found'
      | 'auth/invalid-second-factor'
      | 'auth/step-up-required'
      | 'auth/too-many-factors'
      | 'auth/unauthorized'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.removeFactor': {
    operation: 'identity.remove-factor';
    input: { factorId: string };
    output: undefined;
    errors: 'auth/factor-not-found' | 'auth/step-up-required' | 'auth/unauthorized' | 'auth/server-error';
  };
  'auth.challengeSignIn': {
    operation: 'identity.challenge-sign-in';
    input: { email: string; password: string; rpId: string };
    output: {
      challenge: string;
      rpId: string;
      timeout: number;
      userVerification: 'required';
      allowCredentials: Array<{ type: 'public-key'; id: string; transports: Array<string> }>;
    };
    errors:
      | 'auth/too-many-attempts'
      | 'auth/invalid-credentials'
      | 'auth/suspended'
      | 'auth/email-not-verified'
      | 'auth/factor-not-found'
      | 'project/not-found'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.stepUp': {
    operation: 'identity.step-up';
    input: {
      password?: string | null | undefined;
      code?: string | null | undefined;
      passkey?:
        | {
            id: string;
            type: 'public-key';
            response: { clientDataJSON: string; authenticatorData: string; signature: string };
          }
        | null
        | undefined;
    };
    output: { success: true; expiresAt: string };
    errors:
      | 'auth/too-many-attempts'
      | 'auth/invalid-credentials'
      | 'auth/invalid-second-factor'
      | 'auth/unauthorized'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.requestPasswordReset': {
    operation: 'identity.request-password-reset';
    input: { email: string };
    output: { success: true; message: string };
    errors: 'project/not-found' | 'auth/mail-unavailable' | 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.resetPassword': {
    operation: 'identity.reset-password';
    input: { token: string; newPassword: string };
    output: { success: true; message: string };
    errors: 'auth/weak-password' | 'auth/invalid-reset-token' | 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.sendVerificationEmail': {
    operation: 'identity.send-verification-email';
    input: { mode?: 'code' | 'link' | undefined; redirectUrl?: string | null | undefined };
    output: { success: true };
    errors:
      | 'auth/mail-unavailable'
      | 'auth/invalid-redirect'
      | 'auth/not-password-user'
      | 'auth/unauthorized'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.verifyEmail': {
    operation: 'identity.verify-email';
    input: { token: string };
    output: { success: true };
    errors: 'auth/invalid-or-expired-token' | 'DUPLICATE_EMAIL' | 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.changeEmail': {
    operation: 'identity.change-email';
    input: { password: string; newEmail: string };
    output: { success: true; message: string };
    errors:
      | 'auth/mail-unavailable'
      | 'auth/step-up-required'
      | 'auth/not-password-user'
      | 'auth/too-many-attempts'
      | 'auth/invalid-credentials'
      | 'auth/unauthorized'
      | 'DUPLICATE_EMAIL'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'users.get': {
    operation: 'identity.get-user';
    input: { userId: string };
    output: OwnUser | PublicUser;
    errors: 'user/not-found' | 'user/server-error';
  };
  'users.getByUsername': {
    operation: 'identity.get-user-by-username';
    input: { username: string };
    output: OwnUser | PublicUser;
    errors: 'user/not-found' | 'user/server-error' | 'user/invalid-query';
  };
  'users.getByForeignId': {
    operation: 'identity.get-user-by-foreign-id';
    input: { foreignId: string };
    output: OwnUser | PublicUser;
    errors: 'user/not-found' | 'user/server-error' | 'user/invalid-query';
  };
  'users.suggest': {
    operation: 'identity.suggest-users';
    input: { query: string };
    output: Array<PublicUser>;
    errors: 'user/server-error' | 'user/invalid-query';
  };
  'users.checkUsername': {
    operation: 'identity.check-username';
    input: { username: string };
    output: { available: boolean };
    errors: 'user/server-error' | 'user/invalid-query';
  };
  'users.update': {
    operation: 'identity.update-user';
    input: {
      userId: string;
      username?: string | null | undefined;
      name?: string | null | undefined;
      avatar?: string | null | undefined;
      bio?: string | null | undefined;
      location?: string | null | undefined;
      birthdate?: string | null | undefined;
      metadata?: Record<string, Json> | null | undefined;
      avatarFileId?: string | null | undefined;
      bannerFileId?: string | null | undefined;
    };
    output: OwnUser;
    errors:
      | 'user/not-found'
      | 'auth/forbidden'
      | 'DUPLICATE_USERNAME'
      | 'user/server-error'
      | 'user/invalid-body';
  };
  'users.delete': {
    operation: 'identity.delete-user';
    input: { userId: string };
    output: undefined;
    errors:
      | 'user/not-found'
      | 'auth/forbidden'
      | 'auth/step-up-required'
      | 'auth/unauthorized'
      | 'user/server-error';
  };
  'users.export': {
    operation: 'identity.export-user';
    input: { userId: string };
    output: {
      exportedAt: string;
      user: OwnUser;
      factors: Array<Factor>;
      recoveryCodesLeft: number;
      sessions: Array<{
        id: string;
        createdAt: string;
        lastUsedAt: string;
        userAgent: string | null;
        ip: string | null;
        expiresAt: string;
      }>;
      mails: Array<{
        kind:
          | 'passwordReset'
          | 'verificationLink'
          | 'verificationCode'
          | 'emailChange'
          | 'emailChanged'
          | 'factorAdded'
          | 'factorRemoved'
          | 'recoveryCodesRenewed';
        address: string;
        until: string;
      }>;
      audit: Array<{
        at: string;
        actor: string;
        action: string;
        target: string | null;
        ip: string | null;
        requestId: string | null;
        outcome: string;
        count: number;
      }>;
      connections: Array<Connection>;
      sentRequests: Array<ConnectionRequest>;
      receivedRequests: Array<ConnectionRequest>;
      declinedRequests: Array<{
        id: string;
        type: 'sent' | 'received';
        user: PublicUser;
        message: string | null;
        createdAt: string;
        respondedAt: string;
      }>;
      blocks: Array<StandingBlock>;
      connectionSettings: Array<ConnectionSettings>;
      collections: Array<Collection>;
      savedEntities: Array<{
        id: string;
        addedAt: string;
        metadata: Record<string, Json> | null;
        collectionId: string;
      }>;
      notifications: Array<KithNotification | OwnNotification>;
      notificationSettings: Array<NotificationSettings>;
      files: Array<StoredImage | StoredFile>;
    };
    errors:
      | 'user/not-found'
      | 'auth/forbidden'
      | 'auth/step-up-required'
      | 'auth/unauthorized'
      | 'auth/server-error'
      | 'connection/server-error'
      | 'collection/server-error'
      | 'app-notification/server-error'
      | 'storage/server-error'
      | 'user/server-error';
  };
  'connections.request': {
    operation: 'connections.request';
    input: { userId: string; message?: string | null | undefined };
    output: { id: string; status: 'pending'; createdAt: string };
    errors:
      | 'connection/self-request'
      | 'connection/user-not-found'
      | 'connection/not-allowed'
      | 'connection/request-pending'
      | 'connection/already-connected'
      | 'connection/request-declined'
      | 'connection/invalid-message'
      | 'connection/server-error'
      | 'connection/invalid-body';
  };
  'connections.getStatus': {
    operation: 'connections.get-status';
    input: { userId: string };
    output:
      | { status: 'none' }
      | { status: 'pending'; type: 'sent' | 'received'; connectionId: string; createdAt: string }
      | { status: 'connected'; connectionId: string; connectedAt: string; requestedAt: string }
      | { status: 'declined'; type: 'sent' | 'received'; connectionId: string; respondedAt: string };
    errors: 'connection/self-check' | 'connection/user-not-found' | 'connection/server-error';
  };
  'connections.deleteWithUser': {
    operation: 'connections.delete-with-user';
    input: { userId: string };
    output:
      | { message: string; action: 'withdraw' | 'disconnect' }
      | { id: string; status: 'declined'; respondedAt: string };
    errors: 'connection/self-disconnect' | 'connection/not-found' | 'connection/server-error';
  };
  'connections.listOfUser': {
    operation: 'connections.list-of-user';
    input: {
      userId: string;
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      query?: string | undefined;
      searchFields?: 'username' | 'name' | undefined;
    };
    output: Array<Connection>;
    errors: 'connection/user-not-found' | 'connection/server-error' | 'connection/invalid-query';
  };
  'connections.countOfUser': {
    operation: 'connections.count-of-user';
    input: { userId: string };
    output: { count: number };
    errors: 'connection/user-not-found' | 'connection/server-error';
  };
  'connections.list': {
    operation: 'connections.list';
    input: {
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      query?: string | undefined;
      searchFields?: 'username' | 'name' | undefined;
    };
    output: Array<Connection>;
    errors: 'connection/server-error' | 'connection/invalid-query';
  };
  'connections.count': {
    operation: 'connections.count';
    input: undefined;
    output: { count: number };
    errors: 'connection/server-error';
  };
  'connections.listSent': {
    operation: 'connections.list-sent';
    input: {
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      query?: string | undefined;
      searchFields?: 'username' | 'name' | undefined;
    };
    output: Array<ConnectionRequest>;
    errors: 'connection/server-error' | 'connection/invalid-query';
  };
  'connections.listReceived': {
    operation: 'connections.list-received';
    input: {
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      query?: string | undefined;
      searchFields?: 'username' | 'name' | undefined;
    };
    output: Array<ConnectionRequest>;
    errors: 'connection/server-error' | 'connection/invalid-query';
  };
  'connections.accept': {
    operation: 'connections.accept';
    input: { connectionId: string };
    output: { id: string; status: 'accepted'; respondedAt: string };
    errors: 'connection/not-found' | 'connection/unauthorized' | 'connection/server-error';
  };
  'connections.decline': {
    operation: 'connections.decline';
    input: { connectionId: string };
    output: { id: string; status: 'declined'; respondedAt: string };
    errors: 'connection/not-found' | 'connection/unauthorized' | 'connection/server-error';
  };
  'connections.delete': {
    operation: 'connections.delete';
    input: { connectionId: string };
    output: { message: string };
    errors: 'connection/not-found' | 'connection/unauthorized' | 'connection/server-error';
  };
  'connections.block': {
    operation: 'connections.block';
    input: { userId: string };
    output: undefined;
    errors: 'connection/self-block' | 'connection/user-not-found' | 'connection/server-error';
  };
  'connections.unblock': {
    operation: 'connections.unblock';
    input: { userId: string };
    output: undefined;
    errors: 'connection/self-block' | 'connection/user-not-found' | 'connection/server-error';
  };
  'connections.listBlocks': {
    operation: 'connections.list-blocks';
    input: { page?: number | undefined; limit?: number | undefined; cursor?: string | undefined };
    output: Array<StandingBlock>;
    errors: 'connection/server-error' | 'connection/invalid-query';
  };
  'collections.getRoot': {
    operation: 'collections.get-root';
    input: undefined;
    output: Collection;
    errors: 'collection/server-error';
  };
  'collections.createSubCollection': {
    operation: 'collections.create-sub-collection';
    input: { collectionId: string; collectionName: string };
    output: Collection;
    errors:
      | 'collection/invalid-parent'
      | 'collection/too-deep'
      | 'collection/invalid-name'
      | 'collection/server-error'
      | 'collection/invalid-body';
  };
  'collections.listSubCollections': {
    operation: 'collections.list-sub-collections';
    input: { collectionId: string; limit?: number | undefined; cursor?: string | undefined };
    output: Array<Collection>;
    errors: 'collection/not-found' | 'collection/server-error' | 'collection/invalid-query';
  };
  'collections.rename': {
    operation: 'collections.rename';
    input: { collectionId: string; name: string };
    output: Collection;
    errors:
      | 'collection/not-found'
      | 'collection/invalid-name'
      | 'collection/server-error'
      | 'collection/invalid-body';
  };
  'collections.delete': {
    operation: 'collections.delete';
    input: { collectionId: string };
    output: undefined;
    errors: 'collection/not-found' | 'collection/server-error';
  };
  'collections.listEntities': {
    operation: 'collections.list-entities';
    input: {
      collectionId: string;
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      sortDir?: 'asc' | 'desc' | undefined;
    };
    output: Array<SavedEntity>;
    errors: 'collection/not-found' | 'collection/server-error' | 'collection/invalid-query';
  };
  'collections.addEntity': {
    operation: 'collections.add-entity';
    input: { collectionId: string; entityId: string; metadata?: Record<string, Json> | null | undefined };
    output: { success: true; collection: { id: string; entityCount: number } };
    errors: 'collection/not-found' | 'collection/server-error' | 'collection/invalid-body';
  };
  'collections.removeEntity': {
    operation: 'collections.remove-entity';
    input: { collectionId: string; entityId: string };
    output: { success: true; collection: { id: string; entityCount: number } };
    errors: 'collection/not-found' | 'collection/server-error';
  };
  'collections.isEntitySaved': {
    operation: 'collections.is-entity-saved';
    input: { entityId: string };
    output: { saved: boolean; collections: Array<{ id: string; name: string }> };
    errors: 'collection/server-error' | 'collection/invalid-query';
  };
  'notifications.list': {
    operation: 'notifications.list';
    input: { page?: number | undefined; limit?: number | undefined; cursor?: string | undefined };
    output: Array<KithNotification | OwnNotification>;
    errors: 'app-notification/server-error' | 'app-notification/invalid-query';
  };
  'notifications.count': {
    operation: 'notifications.count';
    input: undefined;
    output: number;
    errors: 'app-notification/server-error';
  };
  'notifications.markAsRead': {
    operation: 'notifications.mark-as-read';
    input: { notificationId: string };
    output: KithNotification | OwnNotification;
    errors: 'app-notification/not-found' | 'app-notification/server-error';
  };
  'notifications.markAllAsRead': {
    operation: 'notifications.mark-all-as-read';
    input: undefined;
    output: { markedAsRead: number };
    errors: 'app-notification/server-error';
  };
  'connections.getSettings': {
    operation: 'connections.get-settings';
    input: undefined;
    output: ConnectionSettings;
    errors: 'connection/server-error';
  };
  'connections.updateSettings': {
    operation: 'connections.update-settings';
    input: {
      requestsFrom?: 'everyone' | 'common' | 'nobody' | undefined;
      showsConnections?: boolean | undefined;
    };
    output: ConnectionSettings;
    errors: 'connection/server-error' | 'connection/invalid-body';
  };
  'notifications.getSettings': {
    operation: 'notifications.get-settings';
    input: undefined;
    output: NotificationSettings;
    errors: 'app-notification/server-error';
  };
  'notifications.updateSettings': {
    operation: 'notifications.update-settings';
    input: { types?: Record<string, boolean> | undefined };
    output: NotificationSettings;
    errors: 'app-notification/server-error' | 'app-notification/invalid-body';
  };
  'storage.createImage': {
    operation: 'storage.create-image';
    input: {
      file: UploadSource;
      name?: string | undefined;
      sizes?: Record<string, number> | undefined;
      quality?: number | undefined;
    };
    output: StoredImage;
    errors:
      | 'storage/no-file'
      | 'storage/invalid-image'
      | 'storage/file-too-large'
      | 'storage/quota-exceeded'
      | 'storage/server-error'
      | 'storage/invalid-body';
  };
  'storage.createFile': {
    operation: 'storage.create-file';
    input: { file: UploadSource; name?: string | undefined };
    output: StoredFile;
    errors: 'storage/no-file' | 'storage/file-too-large' | 'storage/quota-exceeded' | 'storage/server-error';
  };
  'storage.listFiles': {
    operation: 'storage.list-files';
    input: { page?: number | undefined; limit?: number | undefined; cursor?: string | undefined };
    output: Array<StoredImage | StoredFile>;
    errors: 'storage/server-error' | 'storage/invalid-query';
  };
  'storage.getFile': {
    operation: 'storage.get-file';
    input: { fileId: string };
    output: Response;
    errors:
      | 'storage/not-found'
      | 'storage/invalid-range'
      | 'request/precondition-failed'
      | 'storage/server-error';
  };
  'storage.getFileVariant': {
    operation: 'storage.get-file-variant';
    input: { fileId: string; variant: string };
    output: Response;
    errors:
      | 'storage/not-found'
      | 'storage/invalid-range'
      | 'request/precondition-failed'
      | 'storage/server-error';
  };
  'storage.deleteFile': {
    operation: 'storage.delete-file';
    input: { fileId: string };
    output: undefined;
    errors: 'storage/not-found' | 'auth/forbidden' | 'storage/server-error';
  };
  'projects.getLean': {
    operation: 'identity.get-project-lean';
    input: undefined;
    output: { id: string; name: string; integrations: Array<never> };
    errors: 'project/not-found' | 'project/server-error';
  };
  'storage.deleteProjectFile': {
    operation: 'storage.delete-project-file';
    input: { projectId: string; fileId: string };
    output: undefined;
    errors: 'storage/not-found' | 'storage/server-error';
  };
  'projects.create': {
    operation: 'identity.create-project';
    input: {
      name: string;
      publicKey?: string | Record<string, Json> | null | undefined;
      limits?: Record<string, { max: number; windowSeconds: number } | null> | undefined;
      webOrigins?: Array<string> | undefined;
      publicProfiles?: 'card' | 'all' | 'none' | boolean | undefined;
      publicConnections?: boolean | undefined;
      storageMib?: number | null | undefined;
      externalTokenMaxAge?: number | undefined;
      signUp?: 'open' | 'closed' | undefined;
      requireVerifiedEmail?: boolean | undefined;
      mailLinkBase?: string | null | undefined;
      mailTexts?: MailTexts | undefined;
    };
    output: Project;
    errors: 'project/server-error' | 'project/invalid-body';
  };
  'projects.list': {
    operation: 'identity.list-projects';
    input: { page?: number | undefined; limit?: number | undefined; cursor?: string | undefined };
    output: Array<Project>;
    errors: 'project/server-error' | 'project/invalid-query';
  };
  'projects.get': {
    operation: 'identity.get-project';
    input: { projectId: string };
    output: Project;
    errors: 'project/not-found' | 'project/server-error';
  };
  'connections.rebuildProfiles': {
    operation: 'connections.rebuild-profiles';
    input: { after?: string | null | undefined; projectId?: string | undefined };
    output: { copied: number; next: string | null };
    errors: 'auth/forbidden' | 'connection/server-error' | 'connection/invalid-body';
  };
  'notifications.rebuildProfiles': {
    operation: 'notifications.rebuild-profiles';
    input: { after?: string | null | undefined; projectId?: string | undefined };
    output: { copied: number; next: string | null };
    errors: 'auth/forbidden' | 'app-notification/server-error' | 'app-notification/invalid-body';
  };
  'users.rebuildBlocks': {
    operation: 'identity.rebuild-blocks';
    input: { after?: string | null | undefined; projectId?: string | undefined };
    output: { copied: number; next: string | null };
    errors: 'auth/forbidden' | 'user/server-error' | 'user/invalid-body';
  };
  'projects.update': {
    operation: 'identity.update-project';
    input: {
      projectId: string;
      name?: string | undefined;
      publicKey?: string | Record<string, Json> | null | undefined;
      limits?: Record<string, { max: number; windowSeconds: number } | null> | undefined;
      webOrigins?: Array<string> | undefined;
      publicProfiles?: 'card' | 'all' | 'none' | boolean | undefined;
      publicConnections?: boolean | undefined;
      storageMib?: number | null | undefined;
      externalTokenMaxAge?: number | undefined;
      signUp?: 'open' | 'closed' | undefined;
      requireVerifiedEmail?: boolean | undefined;
      mailLinkBase?: string | null | undefined;
      mailTexts?: MailTexts | undefined;
    };
    output: Project;
    errors: 'project/not-found' | 'project/server-error' | 'project/invalid-body';
  };
  'projects.delete': {
    operation: 'identity.delete-project';
    input: { projectId: string };
    output: DeletedProject;
    errors: 'project/not-found' | 'project/server-error';
  };
  'projects.listUsers': {
    operation: 'identity.list-project-users';
    input: {
      projectId: string;
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      query?: string | undefined;
    };
    output: Array<ProjectUser>;
    errors: 'project/not-found' | 'project/server-error' | 'project/invalid-query';
  };
  'users.change': {
    operation: 'identity.change-user';
    input: {
      projectId: string;
      userId: string;
      role?: string | undefined;
      reputation?: number | undefined;
      isVerified?: boolean | undefined;
    };
    output: ProjectUser;
    errors: 'user/not-found' | 'user/server-error' | 'user/invalid-body';
  };
  'users.suspend': {
    operation: 'identity.suspend-user';
    input: {
      projectId: string;
      userId: string;
      reason?: string | null | undefined;
      until?: string | null | undefined;
    };
    output: ProjectUser;
    errors: 'user/not-found' | 'user/server-error' | 'user/invalid-body';
  };
  'users.restore': {
    operation: 'identity.restore-user';
    input: { projectId: string; userId: string };
    output: ProjectUser;
    errors: 'user/not-found' | 'user/server-error';
  };
  'auth.setPassword': {
    operation: 'identity.set-password';
    input: { projectId: string; userId: string; password: string };
    output: ProjectUser;
    errors:
      | 'auth/weak-password'
      | 'auth/not-password-user'
      | 'user/not-found'
      | 'auth/server-error'
      | 'auth/invalid-body';
  };
  'auth.listUserSessions': {
    operation: 'identity.list-user-sessions';
    input: {
      projectId: string;
      userId: string;
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
    };
    output: Array<{
      id: string;
      createdAt: string;
      lastUsedAt: string;
      userAgent: string | null;
      ip: string | null;
    }>;
    errors: 'user/not-found' | 'auth/server-error' | 'auth/invalid-query';
  };
  'auth.endUserSessions': {
    operation: 'identity.end-user-sessions';
    input: { projectId: string; userId: string };
    output: undefined;
    errors: 'user/not-found' | 'auth/server-error';
  };
  'auth.removeUserFactors': {
    operation: 'identity.remove-user-factors';
    input: { projectId: string; userId: string };
    output: undefined;
    errors: 'user/not-found' | 'auth/server-error';
  };
  'users.announceErasures': {
    operation: 'identity.announce-erasures';
    input: { projectId: string; userIds: Array<string> };
    output: { announced: number; existing: number };
    errors: 'project/not-found' | 'user/server-error' | 'user/invalid-body';
  };
  'users.import': {
    operation: 'identity.import-users';
    input: { projectId: string; rows: Array<ImportedUser> };
    output: ImportResult;
    errors: 'project/not-found' | 'user/server-error' | 'user/invalid-body';
  };
  'connections.import': {
    operation: 'connections.import';
    input: { projectId: string; rows: Array<ImportedConnection> };
    output: ImportResult;
    errors: 'project/not-found' | 'connection/server-error' | 'connection/invalid-body';
  };
  'collections.import': {
    operation: 'collections.import';
    input: { projectId: string; rows: Array<ImportedCollection> };
    output: ImportResult;
    errors: 'project/not-found' | 'collection/server-error' | 'collection/invalid-body';
  };
  'collections.importEntities': {
    operation: 'collections.import-entities';
    input: { projectId: string; rows: Array<ImportedEntity> };
    output: ImportResult;
    errors: 'project/not-found' | 'collection/server-error' | 'collection/invalid-body';
  };
  'storage.importFile': {
    operation: 'storage.import-file';
    input: {
      projectId: string;
      file: UploadSource;
      name?: string | undefined;
      userId?: string | undefined;
      userForeignId?: string | undefined;
      id: string;
      kind?: 'file' | 'image' | undefined;
      createdAt: string;
      sizes?: Record<string, number> | undefined;
      quality?: number | undefined;
    };
    output: ImportResult;
    errors:
      | 'project/not-found'
      | 'storage/no-file'
      | 'storage/file-too-large'
      | 'storage/server-error'
      | 'storage/invalid-body';
  };
  'auth.rotateKeys': {
    operation: 'identity.rotate-keys';
    input: undefined;
    output: { keys: Array<SigningKey> };
    errors: 'auth/server-error';
  };
  'auth.revokeKey': {
    operation: 'identity.revoke-key';
    input: { kid: string };
    output: { keys: Array<SigningKey> };
    errors: 'auth/key-not-found' | 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.createOperator': {
    operation: 'identity.create-operator';
    input: {
      name: string;
      scopes: Array<
        'projects:read' | 'projects:write' | 'users:read' | 'users:write' | 'keys:write' | 'audit:read'
      >;
      projectIds?: Array<string> | null | undefined;
      expiresAt?: string | null | undefined;
    };
    output: {
      id: string;
      name: string;
      scopes: Array<
        'projects:read' | 'projects:write' | 'users:read' | 'users:write' | 'keys:write' | 'audit:read'
      >;
      projectIds: Array<string> | null;
      expiresAt: string | null;
      token: string;
    };
    errors: 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.listOperators': {
    operation: 'identity.list-operators';
    input: { page?: number | undefined; limit?: number | undefined; cursor?: string | undefined };
    output: Array<OperatorKey>;
    errors: 'auth/server-error' | 'auth/invalid-query';
  };
  'auth.deleteOperator': {
    operation: 'identity.delete-operator';
    input: { keyId: string };
    output: undefined;
    errors: 'auth/key-not-found' | 'auth/server-error';
  };
  'auth.createServerKey': {
    operation: 'identity.create-server-key';
    input: { projectId: string; name: string };
    output: { id: string; name: string; createdAt: string; key: string };
    errors: 'project/not-found' | 'auth/server-error' | 'auth/invalid-body';
  };
  'auth.listServerKeys': {
    operation: 'identity.list-server-keys';
    input: {
      projectId: string;
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
    };
    output: Array<ServerKey>;
    errors: 'project/not-found' | 'auth/server-error' | 'auth/invalid-query';
  };
  'auth.deleteServerKey': {
    operation: 'identity.delete-server-key';
    input: { projectId: string; keyId: string };
    output: undefined;
    errors: 'auth/key-not-found' | 'auth/server-error';
  };
  'auth.listAudit': {
    operation: 'identity.list-audit';
    input: {
      page?: number | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
      projectId?: string | undefined;
      actor?: string | undefined;
      action?: string | undefined;
      from?: string | undefined;
      to?: string | undefined;
    };
    output: Array<AuditRow>;
    errors: 'auth/forbidden' | 'auth/server-error' | 'auth/invalid-query';
  };
}

/** The input, the output and the error codes of each method that only an application's own back end calls. */
export interface ServerMethods {
  'users.update': {
    operation: 'identity.update-user';
    input: {
      userId: string;
      username?: string | null | undefined;
      name?: string | null | undefined;
      avatar?: string | null | undefined;
      bio?: string | null | undefined;
      location?: string | null | undefined;
      birthdate?: string | null | undefined;
      metadata?: Record<string, Json> | null | undefined;
      avatarFileId?: string | null | undefined;
      bannerFileId?: string | null | undefined;
      role?: string | undefined;
      reputation?: number | undefined;
    };
    output: OwnUser;
    errors:
      | 'user/not-found'
      | 'auth/forbidden'
      | 'DUPLICATE_USERNAME'
      | 'user/server-error'
      | 'user/invalid-body';
  };
  'notifications.create': {
    operation: 'notifications.create';
    input: {
      userIds: Array<string>;
      type: string;
      action?: string | null | undefined;
      metadata?: Record<string, Json> | null | undefined;
    };
    output: { created: number };
    errors: 'app-notification/server-error' | 'app-notification/invalid-body';
  };
}
