export { CallError } from '@kith/platform';
export {
  availableBlobHomes,
  type BlobHome,
  type BlobHomeKind,
  createBlobHome,
  engineOfHome,
  looseChunks,
  unfinishedIn,
} from './blob-homes.ts';
export {
  answerInTime,
  callerOf,
  callOperation,
  type OperationAnswer,
  type OperationCall,
} from './call-operation.ts';
export { availableChromium } from './chromium.ts';
export { compileCache } from './compile-cache.ts';
export { type Death, dieBeforeEachWrite, dieBeforeWrite, runUntilDeath } from './die-before-write.ts';
export { dumpStore } from './dump-store.ts';
export { testEffort } from './effort.ts';
export { availableEngines, type EngineKind, handlerEngines } from './engine-kinds.ts';
export { type Engines, startEngines } from './engines.ts';
export { eraseEngines } from './erase-engines.ts';
export type {
  EventOfType,
  EventType,
  PlatformEvent,
  WaitForEvent,
  WaitForEventOptions,
} from './event-record.ts';
export { EventSource } from './event-source.ts';
export { fillStore, type StoredRow } from './fill-store.ts';
export { type FragileStore, fragileStore } from './fragile-store.ts';
export { type Line, layLine } from './line.ts';
export { type OwnNats, startNatsCluster, startOwnNats } from './own-nats.ts';
export { createBus, createRuntime, createStore, testSecrets, uniquePrefix } from './parts.ts';
export { createPeople, type People, type TestUser } from './people.ts';
export { type PlatformOptions, startPlatform, type TestPlatform } from './platform.ts';
export { readSection } from './read-section.ts';
export { hasS3, prepareS3, type S3Server, startS3 } from './s3-server.ts';
export { type SelfSigned, selfSigned } from './self-signed.ts';
export { serveAlone } from './serve-alone.ts';
export { type SharedPlatform, sharedEnv, sharedPlatform } from './shared-platform.ts';
export { smallPng } from './small-png.ts';
export { type Bent, SoftwarePasskey } from './software-passkey.ts';
export { createUploads, type Uploads } from './uploads.ts';
export { waitFor } from './wait-for.ts';
export { type Read, type WatchedStore, watchReads } from './watch-reads.ts';
