import type { BenchEngines } from './engines.ts';

/** A figure of a row that is compared between two versions. */
export interface Compared {
  name: string;
  value: number;
  /** Whether a larger value is better, as for a rate, or a smaller value, as for a time. */
  better: 'more' | 'less';
}

/** The parameters that every row gets for its measurement. */
export interface BenchContext {
  engines: BenchEngines;
  /** The path of wrk, the program that makes the load. */
  wrk: string;
  /** A folder for the logs, requests and profiles of this run. It is removed afterwards. */
  folder: string;
  /** Whether the whole run has to end within five minutes. */
  isQuick: boolean;
  /** The folder of another checkout, if the run compares that checkout with this one. Some rows measure both. */
  before?: string | undefined;
  progress: (line: string) => void;
}

/** A target of the project, and whether this run has reached the target. */
export interface Verdict {
  target: string;
  found: string;
  isReached: boolean;
}

export interface RowResult {
  /** The row's part of the JSON object. */
  json: unknown;
  /** The row's part of RESULTS.md, without its title. */
  markdown: string;
  verdicts: Verdict[];
}

/** One row of the benchmark. */
export interface Row {
  /** The row's name in the JSON object and for `--only`. */
  name: string;
  title: string;
  /** Whether `--quick` also measures this row. */
  isQuick: boolean;
  measure(context: BenchContext): Promise<RowResult>;
  /**
   * Picks from the row's JSON the figures that are compared with the figures of another checkout. A row has no `compared` if
   * the row itself measures the other checkout, or if the row is not compared.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each row knows its own JSON, and an earlier version may have another form.
  compared?(json: any): Compared[];
}

/** Judges a ratio: the target is reached if the ratio is at least `least`. */
export function atLeast(what: string, ratio: number, least: number): Verdict {
  return { target: `${what}: at least ${least}`, found: ratio.toFixed(2), isReached: ratio >= least };
}

/** Judges a number: the target is reached if the number is at most `most`. */
export function atMost(what: string, value: number, most: number, unit = ''): Verdict {
  return {
    target: `${what}: at most ${most}${unit}`,
    found: `${value.toFixed(2)}${unit}`,
    isReached: value <= most,
  };
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A number for a table. A number of 100 or more becomes a whole number. A smaller number gets two decimals. */
export function figure(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(2);
}

/** A median, with the range of all rounds. */
export function spread(median: number, least: number, most: number): string {
  return `${figure(median)} (${figure(least)}–${figure(most)})`;
}
