/** The images that the engines and our own services run from. */
export interface EngineImages {
  mongo: string;
  redis: string;
  nats: string;
  node: string;
}

export type ImageName = keyof EngineImages;

export const imageNames: readonly ImageName[] = ['mongo', 'redis', 'nats', 'node'];

const variables: EngineImages = {
  mongo: 'MONGO_IMAGE',
  redis: 'REDIS_IMAGE',
  nats: 'NATS_IMAGE',
  node: 'NODE_IMAGE',
};

export const officialImages: EngineImages = {
  mongo: 'mongo:8.0',
  redis: 'redis:8-alpine',
  nats: 'nats:2.12-alpine',
  node: 'node:24-bookworm-slim',
};

/** The images that `tools/engines/images` builds if no registry is reachable. */
export const offlineImages: EngineImages = {
  mongo: 'kith-offline/mongo:2',
  redis: 'kith-offline/redis:1',
  nats: 'kith-offline/nats:1',
  node: 'kith-offline/node:1',
};

/** Reads MONGO_IMAGE, REDIS_IMAGE, NATS_IMAGE and NODE_IMAGE. The result has no entry for a variable that is not set. */
export function imagesNamedIn(env: NodeJS.ProcessEnv): Partial<EngineImages> {
  const named: Partial<EngineImages> = {};
  for (const name of imageNames) {
    const image = env[variables[name]]?.trim();
    if (image) named[name] = image;
  }
  return named;
}

/** Lists the possible images in order of preference. If the environment names an image, only this image is accepted. */
export function candidates(name: ImageName, env: NodeJS.ProcessEnv): string[] {
  const named = imagesNamedIn(env)[name];
  return named ? [named] : [officialImages[name], offlineImages[name]];
}

/** Writes images as lines of an environment file for docker-compose. */
export function imageVariables(images: EngineImages): string {
  return imageNames.map((name) => `${variables[name]}=${images[name]}`).join('\n');
}
