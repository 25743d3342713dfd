/** Formats rows as a table with columns, for people. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
): string {
  const names = Object.keys(columns);
  const cells = [names, ...rows.map((row) => Object.values(columns).map((show) => plain(show(row))))];
  const widths = names.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  return cells
    .map(
      (line) =>
        `${line
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Replaces characters that would move the cursor or colour the terminal, because anybody can choose any text as a name. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
