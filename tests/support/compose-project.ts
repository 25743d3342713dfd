import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  dockerOrThrow,
  type EngineImages,
  freePort,
  imageVariables,
  provideCompose,
  provideEngines,
} from '@kith/engines';
import { uniquePrefix, waitFor } from '@kith/testing';

const run = promisify(execFile);
const here = fileURLToPath(new URL('../../', import.meta.url));

/** A Compose project of docker-compose.yml with a name of its own. Disposing the project removes it and its images. */
export interface ComposeProject extends AsyncDisposable {
  name: string;
  /** The address of the project's gateway. */
  url: string;
  /** A folder that is removed together with the project. */
  folder: string;
  images: EngineImages;
  /** Runs a Compose command on the project, and returns its output. */
  call(...words: string[]): Promise<string>;
  /** Reads the metrics of a process of Kith, from inside of the project's networks. */
  metricsOf(name: string): Promise<string>;
  /** The words that begin a Compose command on the project. */
  command: readonly string[];
}

interface ComposeOptions {
  /** The repository whose docker-compose.yml is used. By default, this is the repository of this file. */
  root?: string;
  /** The processes of Kith to build and to start, by default all. The processes that they depend on are added. */
  processes?: readonly string[];
  /** Returns more lines of the file `.env`. The lines can name folders below the project's folder. */
  variables?: (folder: string) => readonly string[];
}

/**
 * Builds the images of docker-compose.yml and starts its containers. The images of the engines are the official images if a
 * registry is reachable, and otherwise images that are built offline.
 *
 * @param more Further settings, in the form of a Compose file or as its text.
 */
export async function startComposeProject(
  more: object | string = { version: '2.4' },
  { root = here, processes = [], variables: own = () => [] }: ComposeOptions = {},
): Promise<ComposeProject> {
  const compose = await provideCompose();
  if (!compose) throw new Error('There is no docker-compose: install it.');
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
  const provided = await provideEngines({ env });
  if (provided.kind !== 'docker') throw new Error('docker-compose needs Docker.');
  await using starting = new AsyncDisposableStack();
  const name = uniquePrefix();
  const folder = await mkdtemp(join(tmpdir(), 'kith-compose-'));
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const variables = [
    imageVariables(provided.images),
    `IMAGE_PREFIX=${name}`,
    `PORT=${port}`,
    'API_REFERENCE=all',
    ...own(folder),
  ];
  await writeFile(join(folder, 'images.env'), `${variables.join('\n')}\n`);
  await writeFile(join(folder, 'more.yml'), typeof more === 'string' ? more : JSON.stringify(more));
  const [program, ...first] = compose;
  const files = ['-f', join(root, 'docker-compose.yml'), '-f', join(folder, 'more.yml')];
  const flags = ['-p', name, ...files, '--env-file', join(folder, 'images.env')];
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, DOCKER_BUILDKIT: '0' } };
  const call = async (...words: string[]) =>
    (await run(program, [...first, ...flags, ...words], options)).stdout;
  starting.defer(async () => {
    // Right after a removal, the daemon may still count the removed container as part of a network. Then the daemon does not
    // remove the network, so this tries again.
    const isDown = () => call('down', '-v', '--timeout', '0').then(() => true);
    await waitFor(isDown, { timeoutMs: 60_000, what: 'the end of the project' });
    // Removes images by name, not by id, because another project may have the same image under another name, and may be running
    // containers of this image.
    const named = ['--format', '{{.Repository}}:{{.Tag}}', '--filter', `reference=${name}-*`];
    const images = (await dockerOrThrow(['images', ...named])).split('\n').filter(Boolean);
    if (images.length > 0) await dockerOrThrow(['image', 'rm', '-f', ...images]);
    // The classic builder keeps stages that no image uses any more. These stages are removed, except the stages of the last
    // hour, because another build may still use those.
    await dockerOrThrow(['image', 'prune', '-f', '--filter', 'label=dev.kith.stage', '--filter', 'until=1h']);
  });
  await call('config', '-q');
  // Every other process depends on `setup`.
  await call('build', ...(processes.length > 0 ? ['setup', ...processes] : []));
  await call('up', '-d', '--no-build', ...processes);
  const running = starting.move();
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    folder,
    images: provided.images,
    call,
    metricsOf(name) {
      const script = `process.stdout.write(await (await fetch('http://${name}:9090/metrics')).text())`;
      return call('exec', '-T', 'gateway', 'node', '--input-type=module', '-e', script);
    },
    command: [program, ...first, ...flags],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
