import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The figures of a load. Times are in ms. */
export interface Loaded {
  answered: number;
  seconds: number;
  /** How many answers were wrong or missing. */
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
  /** The required length and beginning of each answer's body. */
  expected: { length: number; front: string };
  cores?: string | undefined;
}

/** Puts load on an address with wrk. Each connection sends its next request as soon as it has an answer. */
export function closedLoad(load: ClosedLoad): Promise<Loaded> {
  return runWrk('requests.lua', load, []);
}

export interface OpenLoad extends ClosedLoad {
  /** The rate in requests per second. Requests are sent even if earlier requests are not answered yet. */
  rate: number;
}

/**
 * Puts load on an address with wrk, at a constant rate. A request's time begins when the request is due, so it includes waiting
 * for a slow server (see `open.lua`).
 */
export function openLoad(load: OpenLoad): Promise<Loaded> {
  return runWrk('open.lua', load, [String(load.rate)]);
}

/** The figures of an overload, by the answers' status. Times are in ms, and begin when a request is due. */
export interface Overloaded {
  /** The time since the first request was due. */
  seconds: number;
  sent: number;
  /** Requests that were not sent. When these requests were due, every connection was waiting for an answer. */
  leftOut: number;
  answered: number;
  /** Requests that were answered with 200 within the deadline. */
  good: number;
  /** The number of wrong pages, and of answers whose status is none of 200, 429, 503 and 504. */
  wrong: number;
  /** Connections that failed, and requests without an answer for ten seconds. */
  failed: number;
  firstWrong: string;
  statuses: Partial<Record<200 | 429 | 503 | 504, { count: number; p50: number; p99: number }>>;
}

/**
 * Puts load on an address at a rate that can be too high for the server, and counts the answers by status (see `overload.lua`).
 */
export function overload(load: OpenLoad & { deadlineMs: number }): Promise<Overloaded> {
  return runWrk('overload.lua', load, [String(load.rate), String(load.deadlineMs)]);
}

async function runWrk<Found>(script: string, load: ClosedLoad, more: readonly string[]): Promise<Found> {
  const { expected } = load;
  const command = [
    ...(load.cores ? ['taskset', '-c', load.cores] : []),
    load.wrk,
    ...['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`, '--timeout', '10s'],
    ...['-s', fileURLToPath(new URL(script, import.meta.url)), load.url],
    ...['--', load.requests, String(expected.length), expected.front, ...more],
  ];
  const [program = '', ...words] = command;
  const { stdout } = await run(program, words, { maxBuffer: 1 << 20 });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  return JSON.parse(line) as Found;
}
