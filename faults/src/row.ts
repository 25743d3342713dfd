import type { Crowd } from './load/load.ts';
import type { Record } from './load/record.ts';
import type { Place } from './world/place.ts';

/** What a fault is done to. */
export interface Stage<P extends Place> {
  world: P;
  crowd: Crowd;
  record: Record;
  /** Gives the folder of a checkout of the version before. */
  before(): Promise<string>;
  random(): number;
  /** Waits; the load goes on. */
  rest(ms: number): Promise<void>;
  /** Waits until all are ready again, within a minute if nothing else is said, and some load has met them. */
  back(withinMs?: number): Promise<void>;
  progress(line: string): void;
}

/** A fault, done while the load goes on. */
export interface Row<P extends Place> extends RowFacts {
  /** Does it once and takes it back. What has died comes back by itself. */
  fault(stage: Stage<P>, time: number): Promise<void>;
}

/** What is told of a row. */
export interface RowFacts {
  /** For `--only`. */
  name: string;
  title: string;
  /** How often it is done: in the whole run and in the quick one, which leaves the row out where it is 0. */
  times: number;
  quick: number;
  /**
   * Whether nobody may go unserved; then it has half of the load, as where two cores are all there is a process that starts takes what
   * the others need. Judged in the whole run, as is silence: a shared machine may be slow by itself.
   */
  servesAll?: true;
  /** The longest silence that is borne, in ms; without one it is only written down. */
  silenceMs?: number;
  /** Statuses by which a request may be refused meanwhile, beside 5xx. */
  bears?: readonly number[];
}

/** What a row has come to. */
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
  /** Until every process was ready again after the last fault, without help, in ms. */
  readyMs: number;
  /** Until all that is told had come through, in ms. */
  quietMs: number;
  /** What has failed of the row itself. */
  error?: string;
}

/** Whether nothing went wrong, and, where times are judged, nobody waited for too long. */
export function hasPassed(outcome: Outcome, judgesTimes: boolean): boolean {
  const { row, lost, doubled, wrong, silence, unanswered, error } = outcome;
  if (error || lost.length + doubled.length + wrong.length > 0) return false;
  if (!judgesTimes) return true;
  return silence.ms <= (row.silenceMs ?? Number.POSITIVE_INFINITY) && !(row.servesAll && unanswered > 0);
}
