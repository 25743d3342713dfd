import type { Surroundings } from './command.ts';

/** Prints rows: as columns for people, or with `json` as one JSON value for programs. */
export function print<Row>(
  { stdout }: Surroundings,
  rows: readonly Row[],
  { columns, json }: { columns: Readonly<Record<string, (row: Row) => string>>; json: boolean },
): void {
  if (json) {
    stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const names = Object.keys(columns);
  const cells = [names, ...rows.map((row) => Object.values(columns).map((show) => plain(show(row))))];
  const widths = names.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  for (const line of cells) {
    const text = line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
    stdout.write(`${text.trimEnd()}\n`);
  }
}

/** Without what would move the cursor or colour a terminal: names are anybody's text. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
