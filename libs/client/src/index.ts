export { type AppNotification, isKithNotification } from './app-notification.ts';
export { type ClientOptions, createClient, type KithClient } from './client.ts';
export {
  type ClientErrorCode,
  type ErrorCodeOf,
  type FieldError,
  isKithError,
  KithError,
  type KithErrorCode,
  KithNetworkError,
} from './errors.ts';
export type { Fetch } from './exchange.ts';
export type * from './generated/types.ts';
export type { List, Page } from './list.ts';
export type { NotificationEvent, StreamOptions, StreamStatus } from './notification-stream.ts';
export type { CallOptions, WriteOptions } from './operation.ts';
export {
  createPasskey,
  getPasskey,
  hasPasskeys,
  type NewPasskey,
  type PasskeyCreation,
  type PasskeyRequest,
  type ShownPasskey,
} from './passkeys.ts';
export type { Session, SessionChange, SessionListener } from './session.ts';
export { localStorageSession, memorySession, type SessionStore } from './session-store.ts';
export type { UploadOptions, UploadProgress, UploadSource } from './upload-options.ts';
