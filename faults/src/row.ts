import type { Crowd } from './load/load.ts';
import type { Record } from './load/record.ts';
import type { Place } from './world/place.ts';

/** Everything that a fault needs: the platform, and the people who use it. */
export interface Stage<P extends Place> {
  world: P;
  crowd: Crowd;
  record: Record;
  /** Returns the folder of a checkout of the earlier version. */
  before(): Promise<string>;
  random(): number;
  /** Waits while the load goes on. */
  rest(ms: number): Promise<void>;
  /**
   * Waits until all processes are ready again, by default at most a minute. Then waits a little longer, until they have received
   * some load.
   */
  back(withinMs?: number): Promise<void>;
  progress(line: string): void;
}

/** A row of the run: a fault that is caused while the load goes on. */
export interface Row<P extends Place> extends RowFacts {
  /**
   * Causes the fault once, and ends it again. It does not have to restart processes that have died: they start again by
   * themselves.
   */
  fault(stage: Stage<P>, time: number): Promise<void>;
}

/** The facts about a row. */
export interface RowFacts {
  /** The row's name for `--only`. */
  name: string;
  title: string;
  /**
   * How often a full run causes the fault. `quick` is the same for the quick run; if it is 0, the quick run leaves out the row.
   */
  times: number;
  quick: number;
  /**
   * Whether every request has to be served. Such a row gets half of the load: on a machine with only two cores, a starting
   * process takes CPU time that the other processes need. The quick run sometimes runs on a slow, shared machine. So it checks
   * neither that every request was served, nor the silence.
   */
  servesAll?: true;
  /** The longest allowed silence, in ms. If there is no such limit, the longest silence is recorded but not judged. */
  silenceMs?: number;
  /** The statuses, in addition to 5xx, with which a request may be refused during the fault. */
  bears?: readonly number[];
}

/** The result of a row. */
export interface Outcome {
  row: RowFacts;
  times: number;
  /** The rate of the load, in requests per second. */
  rate: number;
  requests: number;
  acknowledged: number;
  unanswered: number;
  lost: string[];
  doubled: string[];
  /** Answers that contradict acknowledged changes. */
  wrong: string[];
  silence: { ms: number; of: string };
  /** How long it took after the last fault until every process was ready again without help, in ms. */
  readyMs: number;
  /** How long it took until all data agreed with the acknowledged changes, in ms. */
  quietMs: number;
  /** The error, if the row itself has failed. */
  error?: string;
}

/**
 * Returns whether a row has passed. If `judgesTimes` is true, also checks the limits of the row: its longest allowed silence,
 * and `servesAll`.
 */
export function hasPassed(outcome: Outcome, judgesTimes: boolean): boolean {
  const { row, lost, doubled, wrong, silence, unanswered, error } = outcome;
  if (error || lost.length + doubled.length + wrong.length > 0) return false;
  if (!judgesTimes) return true;
  return silence.ms <= (row.silenceMs ?? Number.POSITIVE_INFINITY) && !(row.servesAll && unanswered > 0);
}
