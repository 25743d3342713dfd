import { type Ran, type RunOptions, run } from './run.ts';
import { lastLine } from './step.ts';

/** Runs the Docker command line, which knows the machine's contexts and credentials. */
export function docker(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run('docker', args, { timeoutMs: 60_000, ...options });
}

/** Like {@link docker}, but a failure throws the last line that Docker printed. Returns what it printed, trimmed. */
export async function dockerOrThrow(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await docker(args, options);
  if (code !== 0) throw new Error(`docker ${args[0]}: ${lastLine(stderr) || `exit code ${code}`}`);
  return stdout.trim();
}

/** Tells whether a Docker engine answers, and if not, why. */
export async function dockerState(): Promise<{ answers: true } | { answers: false; reason: string }> {
  const { code, stderr } = await docker(['version', '--format', '{{.Server.Version}}'], {
    timeoutMs: 10_000,
  });
  if (code === 0) return { answers: true };
  if (/ENOENT/.test(stderr)) return { answers: false, reason: 'Docker is not installed' };
  if (/permission denied/i.test(stderr)) return { answers: false, reason: 'this user may not use Docker' };
  return { answers: false, reason: 'Docker does not answer' };
}

/** Reads the id of an image on this machine; an empty string if it is not there. */
export async function imageId(image: string): Promise<string> {
  const { code, stdout } = await docker(['image', 'inspect', '--format', '{{.Id}}', image]);
  return code === 0 ? stdout.trim() : '';
}

/** Names an image by the digest that a registry has given it; `undefined` for one that was built here. */
export async function byDigest(image: string): Promise<string | undefined> {
  const format = '{{range .RepoDigests}}{{println .}}{{end}}';
  const { code, stdout } = await docker(['image', 'inspect', '--format', format, image]);
  return code === 0 ? digestOf(image, stdout.split('\n')) : undefined;
}

/** Appends to an image's name the digest that belongs to it, of those under the image's several names. The tag stays, for readers. */
export function digestOf(image: string, digests: readonly string[]): string | undefined {
  const [name = ''] = image.replace(/@.*/, '').split(/:(?!.*\/)/);
  const digest = digests.find((one) => one.startsWith(`${name}@`))?.slice(name.length);
  return digest && `${image.replace(/@.*/, '')}${digest}`;
}

/** Reads one label of an image; an empty string if the image or the label is missing. */
export async function imageLabel(image: string, label: string): Promise<string> {
  const format = `{{with .Config.Labels}}{{index . "${label}"}}{{end}}`;
  const { code, stdout } = await docker(['image', 'inspect', '--format', format, image]);
  return code === 0 ? stdout.trim() : '';
}

/**
 * Pulls an image. If no registry is reachable, a daemon either says so immediately or says nothing. So silence ends the attempt,
 * but a slow download does not.
 */
export async function pull(image: string, silenceMs = 20_000): Promise<boolean> {
  return (await docker(['pull', image], { firstOutputMs: silenceMs, timeoutMs: 900_000 })).code === 0;
}
