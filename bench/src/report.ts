import { type Row, type RowResult, table } from './row.ts';

/** A measured row, and the share of the machine's time that a hypervisor took during the measurement. */
export interface Measured {
  row: Row;
  result: RowResult;
  stolen: number;
}

/** The text of RESULTS.md for a run of `command`. `missing` are the rows that the run has not reached. */
export function report(
  command: string,
  machine: readonly (readonly [string, string])[],
  results: readonly Measured[],
  missing: readonly Row[],
): string {
  const verdicts = results.flatMap(({ result }) => result.verdicts);
  const judged = verdicts.map(({ target, found, isReached }) => [
    target,
    found,
    isReached ? 'yes' : '**no**',
  ]);
  return [
    '# What was measured',
    `Made by \`${command}\`. [README.md](README.md) explains each row and how to read it. All figures come from one run on one machine. Their ratios have a meaning; the absolute figures depend on the machine.`,
    ...(missing.length > 0
      ? [`The run was broken off before ${missing.map(({ name }) => `\`${name}\``).join(', ')}.`]
      : []),
    table(['', ''], machine),
    '## Targets',
    table(['target', 'found', 'reached'], judged),
    ...results.flatMap(({ row, result, stolen }) => [
      `## ${row.title}`,
      result.markdown,
      `During this measurement, the hypervisor took ${(stolen * 100).toFixed(1)} % of the cores' time.`,
    ]),
    '',
  ].join('\n\n');
}
