import { execFile, spawn } from 'node:child_process';
import { existsSync, openSync, writeFileSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, EnginesError, freePort } from '@kith/engines';
import { waitFor } from '@kith/testing';

const run = promisify(execFile);

/** A web server that serves the files of a folder. */
export interface Nginx extends AsyncDisposable {
  url: string;
}

/** Starts nginx on a folder, with one worker. Throws `EnginesError` if nginx is not available. */
export async function startNginx(
  root: string,
  {
    folder,
    cores,
    progress,
  }: { folder: string; cores?: string | undefined; progress: (line: string) => void },
): Promise<Nginx> {
  const program = await provide(progress);
  const place = join(folder, 'nginx');
  await mkdir(place, { recursive: true });
  const port = await freePort();
  const config = join(place, 'nginx.conf');
  // With these settings, nginx serves large files fastest. It sends them from the page cache to the socket, and writes no log.
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${place}/pid; error_log ${place}/error.log;
user root;
events { worker_connections 256; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  client_body_temp_path ${place}/body; proxy_temp_path ${place}/proxy; fastcgi_temp_path ${place}/fastcgi;
  uwsgi_temp_path ${place}/uwsgi; scgi_temp_path ${place}/scgi;
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`,
  );
  const log = openSync(join(place, 'log'), 'a', 0o600);
  const words = [program, '-p', place, '-c', config];
  const [first = '', ...rest] = cores ? ['taskset', '-c', cores, ...words] : words;
  const child = spawn(first, rest, { stdio: ['ignore', log, log] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  await waitFor(
    () =>
      fetch(url).then(
        () => true,
        () => child.exitCode !== null,
      ),
    { what: 'nginx' },
  );
  if (child.exitCode !== null) throw new Error(`nginx ended before it was ready; its log is in ${place}.`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/**
 * Finds the nginx program on the machine. If there is none, unpacks the distribution's package into the cache, without installing
 * it.
 */
async function provide(progress: (line: string) => void): Promise<string> {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin'];
  const found = folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path));
  if (found) return found;
  const cache = join(cacheFolder(), 'nginx');
  const program = join(cache, 'usr/sbin/nginx');
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  progress('fetching nginx');
  try {
    await run('apt-get', ['download', 'nginx'], { cwd: cache });
    const [archive = ''] = (await readdir(cache)).filter((name) => name.endsWith('.deb'));
    await run('dpkg-deb', ['-x', archive, '.'], { cwd: cache });
    return program;
  } catch (error) {
    throw new EnginesError('nginx is needed: install it (Debian and Ubuntu: apt-get install nginx)', {
      cause: error,
    });
  }
}
