/** The medians over the rounds, the range of the rounds, and the sum of wrong answers. */
export interface Figures<Sample> {
  median: Sample;
  least: Sample;
  most: Sample;
  rounds: Sample[];
  wrong: number;
}

/** Summarises the rounds of a measurement, field by field. */
export function summary<Sample extends object>(rounds: Sample[], wrong = 0): Figures<Sample> {
  const by = (pick: (sorted: number[]) => number) => {
    const fields = Object.keys(rounds[0] ?? {}) as (keyof Sample)[];
    const of = (field: keyof Sample) => rounds.map((round) => Number(round[field])).toSorted((a, b) => a - b);
    return Object.fromEntries(fields.map((field) => [field, pick(of(field))])) as Sample;
  };
  return {
    median: by(median),
    least: by((sorted) => sorted[0] ?? 0),
    most: by((sorted) => sorted.at(-1) ?? 0),
    rounds,
    wrong,
  };
}

/**
 * Compares `one` with `other` in a field. Divides the two values of each round, and returns the median of these quotients. If
 * the machine is slow for a while, this affects both values of a round, so their quotient stays right. The quotient of two
 * medians could be wrong, because the two medians may come from different rounds.
 */
export function ratio<Sample extends object>(
  one: Figures<Sample>,
  other: Figures<Sample>,
  field: keyof Sample,
): number {
  const quotients = one.rounds.map((round, at) => Number(round[field]) / Number(other.rounds[at]?.[field]));
  return median(quotients.toSorted((a, b) => a - b));
}

/** A percentile of the sorted values. For example, a `share` of 0.99 gives p99. Returns 0 if there are no values. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The median of sorted values. */
export function median(sorted: number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
