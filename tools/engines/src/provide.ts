import { readVariable } from '@kith/base/config';
import { dockerElsewhere, dockerState, imageId, pull } from './docker.ts';
import {
  candidates,
  type EngineImages,
  type ImageName,
  imageNames,
  officialImages,
  offlineImages,
} from './images.ts';
import { bringDocker } from './install-docker.ts';
import { exclusively } from './lock.ts';
import { buildOfflineImages, isCurrent } from './offline.ts';
import { EnginesError, type Progress } from './step.ts';

export type EngineAvailability =
  | { kind: 'urls'; mongodbUrl: string; natsUrl: string; redisUrl: string }
  | { kind: 'docker'; images: EngineImages }
  | { kind: 'none'; reason: string };

export interface ProvideOptions {
  env?: NodeJS.ProcessEnv;
  /** Called with one line at each long step. */
  progress?: Progress;
  /** Asks a person a question. If this function is missing, the answer counts as no. */
  confirm?: (question: string) => Promise<boolean>;
  /** Whether only the images are needed, so that Docker may be on any machine. */
  imagesOnly?: boolean;
}

const choices =
  'Set MONGODB_URL, NATS_URL and REDIS_URL, or start Docker, or run as root on Debian or Ubuntu with CI=true to have Docker installed.';

const unreachable = (address: string) =>
  `Docker is on another machine (${address}), and engines that start there cannot be reached from here. Set MONGODB_URL, NATS_URL and REDIS_URL, or choose a Docker on this machine with DOCKER_HOST or \`docker context use\`.`;

/**
 * Finds MongoDB, NATS and Redis for this machine, and installs what is needed. Uses the first way that is possible: engines
 * that are given by their URLs, a Docker that answers, or a Docker that may be installed. If something goes wrong, the result
 * is `none` with the `reason`. A Docker on another machine also gives `none`, because it publishes the ports of engines on the
 * 127.0.0.1 of that machine.
 * @throws StartError if a file that should contain a URL cannot be read.
 */
export async function provideEngines(options: ProvideOptions = {}): Promise<EngineAvailability> {
  const { env = process.env, progress = () => {}, confirm, imagesOnly = false } = options;
  const urls = urlsIn(env);
  if (urls) return urls;
  try {
    const elsewhere = imagesOnly ? undefined : await dockerElsewhere(env);
    if (elsewhere) return { kind: 'none', reason: unreachable(elsewhere) };
    const state = await dockerState();
    if (!state.answers) {
      const bring = () => bringDocker(state.reason, { env, progress, confirm });
      const refused = await exclusively(bring, { progress });
      if (refused) return { kind: 'none', reason: `${refused}. ${choices}` };
    }
    return { kind: 'docker', images: await provideImages(env, progress) };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { kind: 'none', reason: `${cause}. ${choices}` };
  }
}

/**
 * The variables that name engines. As with all variables of Kith, the value can also be in a file. For example, `NATS_URL_FILE`
 * names such a file.
 */
export const urlVariables = ['MONGODB_URL', 'NATS_URL', 'REDIS_URL'] as const;

/** Returns the environment without the variables that name engines by URL. */
export function withoutUrls(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unset = urlVariables.flatMap((name) => [name, `${name}_FILE`]).map((name) => [name, undefined]);
  return { ...env, ...Object.fromEntries(unset) };
}

function urlsIn(env: NodeJS.ProcessEnv): EngineAvailability | undefined {
  const [mongodbUrl, natsUrl, redisUrl] = urlVariables.map((name) => readVariable(name, env));
  return mongodbUrl && natsUrl && redisUrl ? { kind: 'urls', mongodbUrl, natsUrl, redisUrl } : undefined;
}

async function provideImages(env: NodeJS.ProcessEnv, progress: Progress): Promise<EngineImages> {
  const here = await imagesHere(env);
  if (imageNames.every((name) => here[name])) return here as EngineImages;
  return exclusively(() => getImages(env, progress), { progress });
}

async function getImages(env: NodeJS.ProcessEnv, progress: Progress): Promise<EngineImages> {
  const images = await imagesHere(env);
  const missing = imageNames.filter((name) => !images[name]);
  const offline: ImageName[] = [];
  for (const name of missing) {
    const [first, fallback] = candidates(name, env) as [string, string?];
    const buildable = first === offlineImages[name] || fallback !== undefined;
    // If one image has to be built on this machine, the other images are not pulled either.
    const pulled =
      offline.length === 0 && first !== offlineImages[name] && (await pullAloud(first, progress));
    if (pulled) images[name] = first;
    else if (buildable) offline.push(name);
    else throw new EnginesError(`The image ${first} is not on this machine and cannot be pulled`);
  }
  if (offline.length > 0) await buildOfflineImages(offline, { env, progress });
  for (const name of offline) images[name] = offlineImages[name];
  return images as EngineImages;
}

async function imagesHere(env: NodeJS.ProcessEnv): Promise<Partial<EngineImages>> {
  const found: Partial<EngineImages> = {};
  const look = async (name: ImageName) => {
    for (const image of candidates(name, env)) {
      const usable = image === offlineImages[name] ? await isCurrent(name) : (await imageId(image)) !== '';
      if (!usable) continue;
      found[name] = image;
      return;
    }
  };
  await Promise.all(imageNames.map(look));
  // Only docker-compose needs the image of Node. If the other images could be pulled, docker-compose can pull this image itself.
  if (found.mongo === officialImages.mongo) found.node ??= officialImages.node;
  return found;
}

async function pullAloud(image: string, progress: Progress): Promise<boolean> {
  progress(`Pulling ${image} …`);
  const pulled = await pull(image);
  if (!pulled) progress(`${image} cannot be pulled from a registry`);
  return pulled;
}
