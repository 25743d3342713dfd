export { type Chromium, provideChromium } from './chromium.ts';
export { isAlive, owner, ownerLabel, removeAtExit } from './cleanup.ts';
export { type ComposeCommand, provideCompose } from './compose.ts';
export { startContainer, startContainers } from './containers.ts';
export { dockerOrThrow } from './docker.ts';
export { addressOf, type EngineHandle, type Engines, runInContainer } from './handle.ts';
export { type EngineImages, imageVariables, officialImages, offlineImages } from './images.ts';
export { aptInstall } from './install-docker.ts';
export { mayInstall } from './machine.ts';
export {
  type Installation,
  type NamedEnginesOptions,
  removalOf,
  startNamedEngines,
  volumeOf,
} from './named.ts';
export { accepts, freePort } from './ports.ts';
export { type EnginePorts, isReady, untilReady } from './probes.ts';
export {
  type EngineAvailability,
  type ProvideOptions,
  provideEngines,
  urlVariables,
  withoutUrls,
} from './provide.ts';
export type { Secured } from './secured.ts';
export { type ContainerSpec, type Engine, mongoSpec, natsSpec, redisSpec } from './specs.ts';
export { cacheFolder, EnginesError, type Progress, step } from './step.ts';
