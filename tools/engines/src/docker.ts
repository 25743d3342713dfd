import { networkInterfaces } from 'node:os';
import { type Ran, type RunOptions, run } from './run.ts';
import { lastLine } from './step.ts';

/** Runs the `docker` command. This command knows the machine's contexts and credentials. */
export function docker(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run('docker', args, { timeoutMs: 60_000, ...options });
}

/**
 * Like {@link docker}, but returns the trimmed output. If the command fails, throws an error with the last line that Docker
 * printed.
 */
export async function dockerOrThrow(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await docker(args, options);
  if (code !== 0) throw new Error(`docker ${args[0]}: ${lastLine(stderr) || `exit code ${code}`}`);
  return stdout.trim();
}

/** Checks whether a Docker engine answers. If not, returns the reason. */
export async function dockerState(): Promise<{ answers: true } | { answers: false; reason: string }> {
  const { code, stderr } = await docker(['version', '--format', '{{.Server.Version}}'], {
    timeoutMs: 10_000,
  });
  if (code === 0) return { answers: true };
  if (/ENOENT/.test(stderr)) return { answers: false, reason: 'Docker is not installed' };
  if (/permission denied/i.test(stderr)) return { answers: false, reason: 'this user may not use Docker' };
  return { answers: false, reason: 'Docker does not answer' };
}

/**
 * Returns the address of the Docker engine if the engine publishes ports on another machine, and not on this one. Otherwise
 * returns `undefined`. An engine that is reached through a socket publishes ports on this machine, also with Docker Desktop.
 */
export async function dockerElsewhere(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const address = env.DOCKER_HOST || (await addressOfContext(env));
  const url = URL.parse(address);
  if (!url || !['tcp:', 'ssh:', 'http:', 'https:'].includes(url.protocol)) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const own = Object.values(networkInterfaces()).flatMap((one) => (one ?? []).map((each) => each.address));
  return ['localhost', '::1', ...own].includes(host) ? undefined : `${url.protocol}//${url.host}`;
}

/** Reads the address of the engine that the `docker` command uses. Returns an empty string if the command is missing or too old. */
async function addressOfContext(env: NodeJS.ProcessEnv): Promise<string> {
  const words = ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'];
  const { code, stdout } = await docker(words, { env });
  return code === 0 ? stdout.trim() : '';
}

/** Reads the id of an image on this machine. Returns an empty string if the image is not there. */
export async function imageId(image: string): Promise<string> {
  const { code, stdout } = await docker(['image', 'inspect', '--format', '{{.Id}}', image]);
  return code === 0 ? stdout.trim() : '';
}

/**
 * Returns the name of an image with the digest from its registry. Returns `undefined` for an image that was built on this machine.
 */
export async function byDigest(image: string): Promise<string | undefined> {
  const format = '{{range .RepoDigests}}{{println .}}{{end}}';
  const { code, stdout } = await docker(['image', 'inspect', '--format', format, image]);
  return code === 0 ? digestOf(image, stdout.split('\n')) : undefined;
}

/**
 * Appends the digest to an image's name. An image can have several names, each with a digest, so this picks the digest of this
 * name. The tag stays in the name, so that people can read it.
 */
export function digestOf(image: string, digests: readonly string[]): string | undefined {
  const [name = ''] = image.replace(/@.*/, '').split(/:(?!.*\/)/);
  const digest = digests.find((one) => one.startsWith(`${name}@`))?.slice(name.length);
  return digest && `${image.replace(/@.*/, '')}${digest}`;
}

/** Reads one label of an image. Returns an empty string if the image or the label is missing. */
export async function imageLabel(image: string, label: string): Promise<string> {
  const format = `{{with .Config.Labels}}{{index . "${label}"}}{{end}}`;
  const { code, stdout } = await docker(['image', 'inspect', '--format', format, image]);
  return code === 0 ? stdout.trim() : '';
}

/**
 * Pulls an image. If no registry is reachable, some daemons report this immediately, and others print nothing. So the attempt
 * ends if nothing is printed within `silenceMs`. A slow download may take longer.
 */
export async function pull(image: string, silenceMs = 20_000): Promise<boolean> {
  return (await docker(['pull', image], { firstOutputMs: silenceMs, timeoutMs: 900_000 })).code === 0;
}
