export { CallError } from '@kith/platform';
export { availableEngines, type EngineKind } from './engine-kinds.ts';
export { type Engines, startEngines } from './engines.ts';
export { createBus, createRuntime, createStore, uniquePrefix } from './parts.ts';
export { createPeople, type People, type TestUser } from './people.ts';
export { eraseEngines, type PlatformOptions, startPlatform, type TestPlatform } from './platform.ts';
export { waitFor } from './wait-for.ts';
