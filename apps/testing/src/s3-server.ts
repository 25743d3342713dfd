import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@kith/engines';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);
const version = '1.8.0';
const source = `github.com/versity/versitygw/cmd/versitygw@v${version}`;
const folder = join(homedir(), '.cache', 'kith', 'bin');
const built = join(folder, `versitygw-${version}`);

/** A server that speaks S3, with an empty bucket. */
export interface S3Server extends AsyncDisposable {
  /** A `STORAGE_URL` of the bucket. */
  url: string;
}

/** Whether an S3 server is installed on this machine, or can be built. */
export function hasS3(): boolean {
  return installed() !== undefined || inPath('go') !== undefined;
}

/**
 * If the S3 server is not installed, builds it with Go, once per machine. The build takes a minute or more, and nothing else should
 * run in this time. `progress` gets a line when the build begins.
 */
export async function prepareS3(progress: (line: string) => void): Promise<void> {
  if (!hasS3() || installed()) return;
  progress('Building the S3 server of the suites, once on this machine');
  await build();
}

/** Starts versitygw on a folder of its own. */
export async function startS3(): Promise<S3Server> {
  const program = installed() ?? (await build());
  const data = await mkdtemp(join(tmpdir(), 'kith-s3-'));
  await mkdir(join(data, 'objects', 'files'), { recursive: true });
  await mkdir(join(data, 'about'));
  const port = await freePort();
  const [key, secret] = ['kith-test', 'kith-test-secret'];
  const child = spawn(
    program,
    [
      ...['--access', key, '--secret', secret, '--port', `127.0.0.1:${port}`, '--quiet'],
      ...['posix', '--sidecar', join(data, 'about'), join(data, 'objects')],
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `s3://${key}:${secret}@127.0.0.1:${port}/files?tls=false`;
  await using starting = new AsyncDisposableStack();
  starting.defer(async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(data, { recursive: true, force: true });
  });
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) !== undefined, {
    what: 'the S3 server',
  });
  const running = starting.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function build(): Promise<string> {
  await mkdir(folder, { recursive: true });
  // The system's temporary folder may be in another file system, and a file cannot be renamed from one file system into
  // another.
  const place = await mkdtemp(join(folder, '.go-'));
  try {
    await run('go', ['install', source], { env: { ...process.env, GOBIN: place } });
    await rename(join(place, 'versitygw'), built);
    return built;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function installed(): string | undefined {
  return existsSync(built) ? built : inPath('versitygw');
}

function inPath(name: string): string | undefined {
  const paths = (process.env.PATH ?? '').split(delimiter).map((one) => join(one, name));
  return paths.find((path) => existsSync(path));
}
