import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The figures of a load; times in ms. */
export interface Loaded {
  answered: number;
  seconds: number;
  /** Wrong answers, and requests that got no answer. */
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
  /** The length and the beginning that each answer's body must have. */
  expected: { length: number; front: string };
  cores?: string | undefined;
}

/** Loads an address with wrk: each connection asks again as soon as it is answered. */
export function closedLoad(load: ClosedLoad): Promise<Loaded> {
  return runWrk('requests.lua', load, []);
}

export interface OpenLoad extends ClosedLoad {
  /** Requests a second, sent whether the earlier ones are answered or not. */
  rate: number;
}

/**
 * Loads an address with wrk at a constant rate. A request's time counts from when it was due, so that waiting for a slow
 * server counts (see `open.lua`).
 */
export function openLoad(load: OpenLoad): Promise<Loaded> {
  return runWrk('open.lua', load, [String(load.rate)]);
}

/** The figures of an overload, by the answers' status; times in ms, from when a request was due. */
export interface Overloaded {
  /** The time since the first request was due. */
  seconds: number;
  sent: number;
  /** Requests that were due while every connection waited for an answer. */
  leftOut: number;
  answered: number;
  /** Answered with 200 within the deadline. */
  good: number;
  /** Answers with another status than 200, 429, 503 and 504, and wrong pages. */
  wrong: number;
  /** Connections that failed, and requests without an answer for ten seconds. */
  failed: number;
  firstWrong: string;
  statuses: Partial<Record<200 | 429 | 503 | 504, { count: number; p50: number; p99: number }>>;
}

/** Loads an address at a rate that may be more than it can answer, and counts the answers by status (see `overload.lua`). */
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
