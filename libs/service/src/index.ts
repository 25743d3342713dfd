export {
  type Backlog,
  type Bus,
  type ConsumeOptions,
  type DeadLetter,
  type Delivery,
  type Intake,
  type Message,
  maxPayload,
  NoResponders,
  type Notice,
  type OutgoingEvent,
  RequestTimeout,
  replayedId,
  type Span,
  type Withdrawal,
} from './bus/bus.ts';
export { BusWrapper } from './bus/bus-wrapper.ts';
export { InFlight } from './bus/in-flight.ts';
export { NatsBus } from './bus/nats.ts';
export type { NatsBusOptions } from './bus/nats-connection.ts';
export { redactUrl } from './bus/nats-connection.ts';
export { streamNames } from './bus/nats-streams.ts';
export { observedBus } from './bus/observed-bus.ts';
export { receivedAt, watchAbsence } from './bus/received-at.ts';
export { subjectMatches } from './bus/subject.ts';
export {
  commonConfig,
  mongoConfig,
  natsConfig,
  type StoreConfig,
  storeOf,
  tokenConfig,
} from './config/common.ts';
export { flag, readConfig, wholeNumber } from './config/read-config.ts';
export { decodeCursor, encodeCursor, type ListPosition } from './cursor.ts';
export { derivedId } from './derived-id.ts';
export {
  type AnyCollection,
  type Collection,
  type Counters,
  collection,
  counters,
  type Index,
  type Kind,
} from './documents/collection.ts';
export type {
  Change as DocumentChange,
  Copy,
  Documents,
  Range,
  Refusal,
  Stored,
} from './documents/documents.ts';
export { timeKey } from './documents/time-key.ts';
export { ApiError, DeadlinePassed, StartError } from './errors.ts';
export { makeEvent } from './events/make-event.ts';
export {
  type Copies,
  type EventRange,
  eventKey,
  type Outbox,
  type PublishedEvent,
  type StoredEvent,
} from './events/outbox.ts';
export { Relay } from './events/relay.ts';
export { type EventSubscription, subscription } from './events/subscribe.ts';
export { eraseEvents, withdrawEvents } from './events/withdraw.ts';
export { fold } from './fold.ts';
export { type RunningProcess, runProcess } from './lifecycle/run-process.ts';
export {
  type RunningService,
  type ServiceParts,
  type ServiceRuntime,
  startService,
} from './lifecycle/service.ts';
export { runServiceMain, serviceConfig, storingServiceConfig } from './lifecycle/service-main.ts';
export { Sweeper } from './lifecycle/sweeper.ts';
export { ask } from './operations/ask.ts';
export { type Caller, decodeContext, encodeContext, type RequestContext } from './operations/context.ts';
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
export {
  codeHeader,
  errorReply,
  shedHeader,
  shedReply,
  statusHeader,
  successReply,
} from './operations/reply.ts';
export { type ServeOptions, serveInternal, serveOperation } from './operations/serve.ts';
export { isTooDeep } from './operations/validate.ts';
export { type EndedUser, EndedUsers, endedUserCollection } from './profiles/ended-users.ts';
export { askForUsers, findUsers } from './profiles/find-users.ts';
export { profileEvents, rebuildProfiles } from './profiles/follow-users.ts';
export { type Profile, ProfileCopy, profileCollection, type StoredProfile } from './profiles/profiles.ts';
export { type InternalServer, listenSentence, startInternalServer } from './telemetry/internal-server.ts';
export { createLogger, type Logger } from './telemetry/log.ts';
export { Metrics } from './telemetry/metrics.ts';
export type { Tracing } from './telemetry/spans.ts';
export { readTraceparent, traceFields } from './telemetry/traceparent.ts';
export { startTracing, stopTracing, tracing } from './telemetry/tracing.ts';
export { tracingConfig } from './telemetry/tracing-config.ts';
export { Turns } from './turns.ts';
export { untilMade } from './until-made.ts';
