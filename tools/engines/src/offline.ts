import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machineMirror } from './apt-sources.ts';
import { docker, imageId, imageLabel } from './docker.ts';
import { compileFerretdb, ferretdbPackage } from './ferretdb.ts';
import { type ImageName, offlineImages } from './images.ts';
import { aptInstall } from './install-docker.ts';
import { distribution, mayInstall } from './machine.ts';
import { run } from './run.ts';
import { cacheFolder, EnginesError, type Progress, step } from './step.ts';

const recipes = fileURLToPath(new URL('../images/', import.meta.url));
const tools = fileURLToPath(new URL('../../', import.meta.url));
const base = 'kith-offline/base:1';
const label = 'org.kith.recipe';

/** Whether an offline image is on this machine and was built by the current recipe. */
export async function isCurrent(name: ImageName): Promise<boolean> {
  return (await imageLabel(offlineImages[name], label)) === (await recipeOf(name));
}

/**
 * Builds the named offline images from the distribution's packages. Needs root on Debian.
 * @throws EnginesError with one sentence. If a step failed, the sentence names the log.
 */
export async function buildOfflineImages(
  names: readonly ImageName[],
  { env, progress }: { env: NodeJS.ProcessEnv; progress: Progress },
): Promise<void> {
  const log = join(cacheFolder(env), 'images.log');
  await rm(log, { force: true });
  const mirror = await findMirror(env);
  const context = { progress, log, env };
  const ferretdb = names.includes('mongo')
    ? compileFerretdb({ ...context, base, onMachine: true })
    : undefined;
  // The promise of FerretDB is awaited only at the end. If another step fails first, nobody awaits this promise, so its rejection
  // is handled here.
  ferretdb?.catch(() => {});
  await ensureBase(mirror, context);
  // `mongo` comes last, because it needs the compiled FerretDB.
  for (const name of names.filter((other) => other !== 'mongo')) {
    await buildImage(name, name === 'node' ? await nodeBinary() : undefined, context);
  }
  if (!ferretdb) return;
  await buildImage('mongo', (await ferretdb) ?? (await compileFerretdb({ ...context, base })), context);
}

async function findMirror(env: NodeJS.ProcessEnv): Promise<string> {
  const { id, codename } = await distribution();
  const mirror = env.DEBIAN_MIRROR || (id === 'debian' ? await machineMirror(codename) : undefined);
  if (mirror && (await mayInstall())) return mirror;
  throw new EnginesError(
    'No registry is reachable. Building the images without one needs root on Debian (on Ubuntu, also DEBIAN_MIRROR)',
  );
}

type Context = { progress: Progress; log: string; env: NodeJS.ProcessEnv };

async function ensureBase(mirror: string, { progress, log, env }: Context): Promise<void> {
  const recipe = await hash([join(recipes, 'base.sh')]);
  if ((await imageLabel(base, label)) === recipe) return;
  if ((await run('debootstrap', ['--version'])).code !== 0) {
    await aptInstall(['debootstrap', 'debian-archive-keyring'], { progress, log });
  }
  const variables = { ...env, MIRROR: mirror, TAG: base, LABEL: `${label}=${recipe}` };
  await step('Building the base image', [join(recipes, 'base.sh')], { progress, log, env: variables });
}

async function buildImage(
  name: ImageName,
  binary: string | undefined,
  { progress, log, env }: Context,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-image-'));
  try {
    await cp(join(recipes, name), folder, { recursive: true });
    if (binary) await cp(binary, join(folder, name === 'node' ? 'node' : 'ferretdb'));
    const labels = ['--label', `${label}=${await recipeOf(name)}`, '--build-arg', `BASE=${base}`];
    const old = await imageId(offlineImages[name]);
    // Builds use the host's network. Without a packet filter, a container's own network reaches nothing.
    const build = [
      'docker',
      'build',
      '--network',
      'host',
      '-t',
      offlineImages[name],
      ...labels,
      folder,
    ] as const;
    // Only Docker's built-in builder sees images that exist only on this machine.
    await step(`Building ${offlineImages[name]}`, build, {
      progress,
      log,
      env: { ...env, BUILDX_BUILDER: 'default' },
    });
    // If a container still runs from the old image, Docker does not remove this image.
    if (old && old !== (await imageId(offlineImages[name]))) await docker(['rmi', old]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function recipeOf(name: ImageName): Promise<string> {
  const folder = join(recipes, name);
  const files = (await readdir(folder)).sort().map((file) => join(folder, file));
  const made = name === 'node' ? await nodeVersion() : name === 'mongo' ? ferretdbPackage : '';
  return hash([join(recipes, 'base.sh'), ...files], made);
}

async function hash(files: readonly string[], also = ''): Promise<string> {
  const digest = createHash('sha256').update(also);
  for (const file of files) digest.update(await readFile(file));
  return digest.digest('hex').slice(0, 16);
}

// The version of Node that tools/node/package.json pins. The Node that runs this code may be another version. Empty outside of the
// repository.
async function nodeVersion(): Promise<string> {
  const manifest = join(tools, 'node/package.json');
  if (!existsSync(manifest)) return '';
  const { optionalDependencies } = JSON.parse(await readFile(manifest, 'utf8'));
  return optionalDependencies[`node-linux-${process.arch}`] ?? '';
}

async function nodeBinary(): Promise<string> {
  const { code, stdout } = await run(process.execPath, [join(tools, 'bootstrap/print-pinned-node.mjs')]);
  if (code === 0) return stdout;
  throw new EnginesError('The pinned Node cannot be installed; only the repository of Kith has it');
}
