import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = fileURLToPath(new URL('requests.lua', import.meta.url));

/** What a load found; times in ms. */
export interface Loaded {
  answered: number;
  seconds: number;
  /** Answers that were not what was asked for, and requests that got none. */
  wrong: number;
  p50: number;
  p99: number;
  max: number;
  firstWrong: string;
}

export interface ClosedLoad {
  wrk: string;
  url: string;
  /** The file of requests (see `requests.lua`). */
  requests: string;
  seconds: number;
  connections: number;
  /** What each answer's body has to be. */
  expected: { length: number; front: string };
  cores?: string | undefined;
}

/** Loads an address with wrk: each connection asks again as soon as it is answered. */
export async function closedLoad(load: ClosedLoad): Promise<Loaded> {
  const { expected } = load;
  const command = [
    ...(load.cores ? ['taskset', '-c', load.cores] : []),
    load.wrk,
    ...['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`, '--timeout', '10s'],
    ...['-s', script, load.url, '--', load.requests, String(expected.length), expected.front],
  ];
  const [program = '', ...words] = command;
  const { stdout } = await run(program, words, { maxBuffer: 1 << 20 });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  return JSON.parse(line) as Loaded;
}
