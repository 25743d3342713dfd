import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type Dirent, mkdirSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@kith/engines';
import { waitFor } from '@kith/testing';
import type { LoadOptions } from '../load/options.ts';
import { samplePage } from '../page.ts';
import { audience, issuer, makePopulation } from '../population.ts';
import { cpuMicros, type Running, serviceMain, startScript } from '../processes.ts';
import { type Figures, summary } from '../summary.ts';
import { type Held, heldDuring, uploadPiecewise } from './memory.ts';
import { startNginx } from './nginx.ts';

const run = promisify(execFile);
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const mebibyte = 1024 * 1024;
const fileBytes = 10 * mebibyte;

/** Files per second, and the servers' CPU time in ms for each file. */
export interface FilesSample {
  rps: number;
  p50: number;
  cpu_ms: number;
}

export interface FilesRow {
  uploads: { kith: Figures<FilesSample>; peer: Figures<FilesSample> };
  downloads: { kith: Figures<FilesSample>; peer: Figures<FilesSample> };
  /**
   * How far uploads of 50 MiB raise the memory above its level at rest, in MiB. `one` is for a single upload, and `ten` for ten
   * at a time. Each is the highest of three measurements.
   */
  memory: { one: Held; ten: Held };
}

export interface FilesOptions extends LoadOptions {
  mongodbUrl: string;
}

/**
 * Measures uploads and downloads of 10 MiB, in turn. Uploads are compared with a Node server that pipes the form's file to a file.
 * Downloads are compared with nginx. Kith runs as a gateway and storage, with its files in a folder.
 */
export async function measureFiles(options: FilesOptions): Promise<FilesRow> {
  const { mongodbUrl, natsUrl, redisUrl, folder, wrk, progress } = options;
  const { people, jwk } = await makePopulation({ users: 1, projects: 1, requests: 1 });
  const [{ projectId, token } = { projectId: '', token: '' }] = people;
  const prefix = `benchfiles${process.pid}`;
  const places = { kith: join(folder, 'files'), peer: join(folder, 'piped'), nginx: join(folder, 'static') };
  for (const place of Object.values(places)) mkdirSync(place);
  const secret = randomBytes(32).toString('hex');
  const httpPort = await freePort();
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    // Needed because the processes reach the database at its container's address, without TLS.
    ALLOW_PLAIN_ENGINES: 'true',
    NATS_URL: natsUrl,
    REDIS_URL: redisUrl,
    MONGODB_URL: mongodbUrl,
    KITH_PREFIX: prefix,
    KITH_SECRET: secret,
    INTERNAL_PORT: '0',
  };
  const running: Running[] = [];
  const start = async (script: string, more: NodeJS.ProcessEnv = {}) => {
    const process = await startScript(script, {
      env: { ...environment, ...more },
      log: join(folder, 'files.log'),
      cores: undefined,
    });
    running.push(process);
    return process;
  };
  const unlimited = { max: 100_000_000, windowSeconds: 3_600 };
  try {
    await using nginx = await startNginx(places.nginx, { folder, progress });
    await start(here('../gateway/echo-nats.ts'), {
      SUBJECT: `${prefix}.unused`,
      PAGE: JSON.stringify(samplePage()),
      JWK: JSON.stringify(jwk),
    });
    const storage = await start(serviceMain('storage'), {
      HTTP_PORT: String(httpPort),
      STORAGE_URL: `file://${places.kith}`,
      STORAGE_USER_MIB: '100000000',
      STORAGE_PROJECT_MIB: '100000000',
    });
    const gateway = await start(serviceMain('gateway'), {
      PORT: '0',
      UPSTREAMS: `storage=http://127.0.0.1:${httpPort}`,
      STORAGE_FOLDER: places.kith,
      RATE_LIMITS: JSON.stringify({ 'storage.create-file': unlimited, 'storage.get-file': unlimited }),
      TOKEN_ISSUER: issuer,
      TOKEN_AUDIENCE: audience,
    });
    const peer = await start(here('pipe-server.ts'), { FOLDER: places.peer });
    const urls = { kith: gateway.ready.url ?? '', peer: peer.ready.url ?? '' };

    const bytes = randomBytes(fileBytes);
    writeFileSync(join(places.nginx, 'file'), bytes);
    const form = formOf(bytes);
    const stored = await fetch(`${urls.kith}/v7/${projectId}/storage/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': form.type },
      body: form.body,
    });
    const { originalPath } = (await stored.json()) as { originalPath: string };
    const write = (name: string, lines: readonly string[], body?: Uint8Array) => {
      const path = join(folder, name);
      writeFileSync(
        path,
        Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)]),
      );
      return path;
    };
    const upload = write(
      'upload.request',
      [
        `POST /v7/${projectId}/storage/files HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${token}`,
        `Content-Type: ${form.type}`,
        `Content-Length: ${form.body.length}`,
      ],
      form.body,
    );
    const download = write('download.request', [`GET ${originalPath} HTTP/1.1`, 'Host: 127.0.0.1']);
    const plain = write('static.request', ['GET /file HTTP/1.1', 'Host: 127.0.0.1']);

    const load = async (url: string, request: string, pids: readonly number[], seconds: number) => {
      const used = () => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
      const before = used();
      const words = ['-t', '1', '-c', String(options.connections), '-d', `${seconds}s`, '--timeout', '30s'];
      const { stdout } = await run(wrk, [...words, '-s', here('files.lua'), url, '--', request]);
      const found = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
        answered: number;
        seconds: number;
        wrong: number;
        p50: number;
      };
      const sample: FilesSample = {
        rps: found.answered / found.seconds,
        p50: found.p50,
        cpu_ms: (used() - before) / 1_000 / found.answered,
      };
      return { sample, wrong: found.wrong };
    };
    const kithPids = [gateway.pid, storage.pid];
    const sides = {
      uploads: {
        kith: async () => {
          const measured = await load(urls.kith, upload, kithPids, options.seconds);
          await removeFiles(places.kith, fileIdOf(originalPath));
          return measured;
        },
        peer: async () => {
          const measured = await load(urls.peer, upload, [peer.pid], options.seconds);
          await removeFiles(places.peer);
          return measured;
        },
      },
      downloads: {
        kith: () => load(urls.kith, download, kithPids, options.seconds),
        peer: () => load(nginx.url, plain, [], options.seconds),
      },
    };
    const measure = async (kind: 'uploads' | 'downloads') => {
      const [kith, other]: [FilesSample[], FilesSample[]] = [[], []];
      let [wrong, wrongOfPeer] = [0, 0];
      for (let round = 0; round <= options.rounds; round++) {
        const one = await sides[kind].kith();
        const two = await sides[kind].peer();
        // The first round only warms up the servers.
        if (round === 0) continue;
        wrong += one.wrong;
        wrongOfPeer += two.wrong;
        kith.push(one.sample);
        other.push(two.sample);
        progress(
          `round ${round} of ${options.rounds}: ${kind} ${one.sample.rps.toFixed(1)}/s, beside ${two.sample.rps.toFixed(1)}/s`,
        );
      }
      return { kith: summary(kith, wrong), peer: summary(other, wrongOfPeer) };
    };
    const memory = async (atOnce: number): Promise<Held> => {
      const most: Held = { gateway: 0, storage: 0 };
      for (let time = 0; time < 3; time++) {
        const held = await heldDuring({ gateway: gateway.pid, storage: storage.pid }, async () => {
          const path = `/v7/${projectId}/storage/files`;
          const one = () => uploadPiecewise(urls.kith, { path, token, size: 50 * mebibyte });
          const statuses = await Promise.all(Array.from({ length: atOnce }, one));
          if (statuses.some((status) => status !== 201))
            throw new Error(`Uploads got ${statuses.join(', ')}.`);
        });
        most.gateway = Math.max(most.gateway, held.gateway);
        most.storage = Math.max(most.storage, held.storage);
      }
      progress(
        `${atOnce} uploads of 50 MiB at once: gateway ${most.gateway.toFixed(1)} MiB above idle, storage ${most.storage.toFixed(1)}`,
      );
      return most;
    };
    // Memory is measured first, when the processes have just started. A heap that has grown does not shrink, so a later
    // measurement would show a smaller rise.
    const held = { one: await memory(1), ten: await memory(10) };
    return { uploads: await measure('uploads'), downloads: await measure('downloads'), memory: held };
  } finally {
    await Promise.all(running.map((process) => process.stop()));
  }
}

function fileIdOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

/**
 * Removes the files below a folder, except files in a folder of the given name. After each round, the files of both sides of
 * the comparison have to be removed. If the files of only one side were removed, the comparison would not be fair: that side
 * would write into memory that has just been released, and the machine would first have to provide new memory for the other
 * side.
 */
async function removeFiles(folder: string, kept?: string): Promise<void> {
  const removed = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    // Kith's own files in the folder have names that begin with a dot. They stay.
    const isRemoved = ({ name, parentPath }: Dirent) =>
      !name.startsWith('.') && !parentPath.endsWith(`/${kept}`);
    const files = entries.filter((entry) => entry.isFile() && isRemoved(entry));
    await Promise.all(files.map((file) => rm(join(file.parentPath, file.name), { force: true })));
    return true;
  };
  // Kith may be removing the folders of interrupted uploads meanwhile. If the removal here fails because of that, it is
  // repeated.
  await waitFor(() => removed().catch(() => false), { what: 'the files of a round to be gone' });
}

function formOf(file: Uint8Array): { type: string; body: Buffer } {
  const boundary = randomBytes(12).toString('hex');
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n`;
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
