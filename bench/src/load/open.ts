import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Asked } from '../population.ts';
import type { Loaded } from './closed.ts';

const run = promisify(execFile);

export interface OpenLoad {
  vegeta: string;
  url: string;
  requests: readonly Asked[];
  path: (asked: Asked) => string;
  /** Requests a second, sent whether the earlier ones are answered or not. */
  rate: number;
  seconds: number;
  folder: string;
}

interface Report {
  latencies: { '50th': number; '99th': number; max: number };
  bytes_in: { total: number };
  requests: number;
  duration: number;
  status_codes: Record<string, number>;
  errors: string[] | null;
}

/** Bytes of each body that are looked at; vegeta reads the rest to its announced end and drops it. */
const keptBytes = 64;

/**
 * Loads an address at a constant rate with vegeta. A request's time counts from when it was due, so that waiting for a
 * slow server counts. Answers are checked by their status, and by the length they announce.
 */
export async function openLoad(load: OpenLoad): Promise<Loaded> {
  const targets = `${load.folder}/open.targets`;
  const lines = load.requests.map((asked) =>
    JSON.stringify({
      method: 'GET',
      url: load.url + load.path(asked),
      header: {
        Authorization: [`Bearer ${asked.person.token}`],
        'X-Forwarded-For': [asked.address],
        'X-User': [asked.person.userId],
      },
    }),
  );
  await writeFile(targets, `${lines.join('\n')}\n`, { mode: 0o600 });
  try {
    const words = [
      ...['-format=json', `-targets=${targets}`, `-max-body=${keptBytes}`],
      ...[`-rate=${Math.round(load.rate)}/1s`, `-duration=${load.seconds}s`],
      ...['-connections=512', '-max-connections=512'],
    ];
    // One reads what the other writes: kept in a file it would be gigabytes.
    const pipe = '"$0" attack "$@" | "$0" report -type=json';
    const { stdout } = await run('sh', ['-c', pipe, load.vegeta, ...words]);
    return read(JSON.parse(stdout) as Report);
  } finally {
    // The targets hold tokens.
    await rm(targets, { force: true });
  }
}

function read(report: Report): Loaded {
  const ok = report.status_codes['200'] ?? 0;
  const short = ok - Math.floor(report.bytes_in.total / keptBytes);
  const ms = (nanoseconds: number) => nanoseconds / 1e6;
  return {
    answered: ok,
    seconds: report.duration / 1e9,
    wrong: report.requests - ok + Math.max(short, 0),
    p50: ms(report.latencies['50th']),
    p99: ms(report.latencies['99th']),
    max: ms(report.latencies.max),
    firstWrong: report.errors?.[0] ?? '',
  };
}
