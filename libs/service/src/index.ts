export * from './bus/bus.ts';
export { InFlight } from './bus/in-flight.ts';
export { InProcessBus } from './bus/in-process.ts';
export { NatsBus, type NatsBusOptions } from './bus/nats.ts';
export { redactUrl } from './bus/nats-connection.ts';
export { streamNames } from './bus/nats-streams.ts';
export * from './config/common.ts';
export { flag, readConfig, wholeNumber } from './config/read-config.ts';
export { decodeCursor, encodeCursor, type ListPosition } from './cursor.ts';
export { ApiError, DeadlinePassed, StartError } from './errors.ts';
export { makeEvent } from './events/make-event.ts';
export {
  eventsIndexes,
  MongoOutbox,
  type OutboxFields,
  outboxFields,
  outboxHasRoom,
  outboxIndex,
  outboxLimit,
  outboxUpdate,
} from './events/mongo-outbox.ts';
export { eventKey, type Outbox, Relay, type StoredEvent } from './events/outbox.ts';
export { SqliteOutbox, sqliteEventsTable } from './events/sqlite-outbox.ts';
export { type EventSubscription, subscription } from './events/subscribe.ts';
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
export {
  handler,
  internalHandler,
  type OperationHandler,
  type OperationRequest,
} from './operations/handler.ts';
export { codeHeader, errorReply, statusHeader, successReply } from './operations/reply.ts';
export { type ServeOptions, serveInternal, serveOperation } from './operations/serve.ts';
export { MongoProfiles, profilesIndexes } from './profiles/mongo-profiles.ts';
export { findUsers, type Profile, type ProfileStore } from './profiles/profiles.ts';
export { SqliteProfiles, sqliteForgottenProfiles, sqliteProfilesTable } from './profiles/sqlite-profiles.ts';
export {
  type Change,
  type CounterFields,
  type CounterWrite,
  goneIndex,
  notGone,
  pendingIndex,
  type RowFields,
  type RowWrite,
  type TargetFields,
  unsettledIndex,
} from './settle/plan.ts';
export { Settler, type Step } from './settle/settler.ts';
export {
  isMongoDeadlock,
  isMongoDuplicate,
  type MongoConnection,
  type MongoSchema,
  openMongo,
} from './store/mongo.ts';
export { isSqliteDuplicate, openSqlite, transaction } from './store/sqlite.ts';
export { type InternalServer, listenSentence, startInternalServer } from './telemetry/internal-server.ts';
export { createLogger, type Logger } from './telemetry/log.ts';
export { Metrics } from './telemetry/metrics.ts';
export { Turns } from './turns.ts';
