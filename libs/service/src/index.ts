export { Sweeper } from './background/sweeper.ts';
export {
  commonConfig,
  drainConfig,
  drainMsOf,
  httpConfig,
  mongoConfig,
  natsConfig,
  publicUrl,
  publicUrlText,
  secretConfig,
  serviceConfig,
  storeOf,
  storingServiceConfig,
  tokenConfig,
} from './config/common.ts';
export { refusePlainEngines } from './config/plain-engines.ts';
export { secretsOf } from './config/secrets-of.ts';
export { searchLate } from './events/late-events.ts';
export { makeEvent } from './events/make-event.ts';
export { Relay } from './events/relay.ts';
export { type EventSubscription, subscription } from './events/subscribe.ts';
export { eraseEvents, withdrawEvents, withdrawLetters } from './events/withdraw.ts';
export { freeChunk } from './http/free-chunk.ts';
export {
  type BytesAnswer,
  downloadHandler,
  type HttpHandler,
  type HttpRequest,
  uploadHandler,
} from './http/http-handler.ts';
export { type HttpIntakeConfig, operationHeader } from './http/http-intake.ts';
export { sendBytes } from './http/send-bytes.ts';
export { canonicalPath, signContext } from './http/signed-context.ts';
export { folderHeader, readStored, storedHeader } from './http/stored-bytes.ts';
export { type RunningProcess, runProcess, startProcess, usualStopMs } from './lifecycle/run-process.ts';
export { type ServiceParts, startService } from './lifecycle/service.ts';
export { runOnBus, runServiceMain } from './lifecycle/service-main.ts';
export type { BusUses } from './manifest/bus-uses.ts';
export {
  type ServiceManifest,
  serviceManifest,
  startByManifest,
} from './manifest/manifest.ts';
export { PermittedBus } from './manifest/permitted-bus.ts';
export type { RunningService, ServiceRuntime } from './manifest/runtime.ts';
export { ask } from './operations/ask.ts';
export { auditEventsOf, eventOf } from './operations/audit.ts';
export type { AuditLog } from './operations/audited.ts';
export {
  type Caller,
  decodeContext,
  encodeContext,
  type OperatorCaller,
  type RequestContext,
  type ServerKeyCaller,
} from './operations/context.ts';
export { exportPage } from './operations/export-page.ts';
export {
  handler,
  type InternalContext,
  type InternalHandler,
  internalHandler,
  type OperationHandler,
  type OperationRequest,
} from './operations/handler.ts';
export { nameUsers, type UserName } from './operations/name-users.ts';
export { refuseOtherProjects, type WalkStep, walkStep } from './operations/project-walk.ts';
export {
  errorReply,
  shedReply,
  successReply,
} from './operations/reply.ts';
export { type ServeOptions, serveInternal, serveOperation } from './operations/serve.ts';
export { structureFault, validatePart, validateQuery } from './operations/validate.ts';
export { hasComeBack } from './profiles/came-back.ts';
export {
  type EndedUser,
  EndedUsers,
  endedUserCollection,
  nextLook,
} from './profiles/ended-users.ts';
export { eraseProject } from './profiles/erase-project.ts';
export { ErasedUsers, erasedUserCollection } from './profiles/erased-users.ts';
export { askForUsers, findUsers, findUsersNow } from './profiles/find-users.ts';
export { profileEvents, rebuildProfiles } from './profiles/follow-users.ts';
export { type Profile, ProfileCopy, profileCollection, type StoredProfile } from './profiles/profiles.ts';
export { shownTo } from './profiles/shown-to.ts';
export { UserSettings, userSettingsCollection } from './profiles/user-settings.ts';
