import type { Crowd } from './load/load.ts';
import type { Record } from './load/record.ts';
import type { Place } from './world/place.ts';

/** What a fault has to work with: the platform, and the people who use it. */
export interface Stage<P extends Place> {
  world: P;
  crowd: Crowd;
  record: Record;
  /** Gives the folder of a checkout of the version before. */
  before(): Promise<string>;
  random(): number;
  /** Waits; the load goes on. */
  rest(ms: number): Promise<void>;
  /** Waits until all processes are ready again, at most a minute by default, and then for as long as they need to get some load. */
  back(withinMs?: number): Promise<void>;
  progress(line: string): void;
}

/** A fault that is caused while the load goes on. */
export interface Row<P extends Place> extends RowFacts {
  /** Causes the fault once and ends it again. Processes that have died come back by themselves. */
  fault(stage: Stage<P>, time: number): Promise<void>;
}

/** The facts about a row. */
export interface RowFacts {
  /** The row's name for `--only`. */
  name: string;
  title: string;
  /** How often the fault is caused in the whole run. `quick` is the number for the quick run, which leaves the row out if it is 0. */
  times: number;
  quick: number;
  /**
   * Whether every request has to be served. Such a row gets half of the load: with only two cores, a process that starts takes
   * CPU time that the others need. Only the whole run judges this and silence, as a shared machine may be slow by itself.
   */
  servesAll?: true;
  /** The longest silence that is allowed, in ms. Without a limit, silence is only recorded. */
  silenceMs?: number;
  /** Statuses with which a request may be refused during the fault, beside 5xx. */
  bears?: readonly number[];
}

/** The result of a row. */
export interface Outcome {
  row: RowFacts;
  times: number;
  /** Requests a second. */
  rate: number;
  requests: number;
  acknowledged: number;
  unanswered: number;
  lost: string[];
  doubled: string[];
  /** Answers that contradict what was acknowledged. */
  wrong: string[];
  silence: { ms: number; of: string };
  /** How long it took until every process was ready again after the last fault, without help, in ms. */
  readyMs: number;
  /** How long it took until everything agreed with what was acknowledged, in ms. */
  quietMs: number;
  /** The error, if the row itself has failed. */
  error?: string;
}

/** Whether nothing went wrong and, if times are judged, nobody waited for too long. */
export function hasPassed(outcome: Outcome, judgesTimes: boolean): boolean {
  const { row, lost, doubled, wrong, silence, unanswered, error } = outcome;
  if (error || lost.length + doubled.length + wrong.length > 0) return false;
  if (!judgesTimes) return true;
  return silence.ms <= (row.silenceMs ?? Number.POSITIVE_INFINITY) && !(row.servesAll && unanswered > 0);
}
