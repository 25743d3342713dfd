/** The last line that a command has printed. With `--json`, this is the result of a command that also reports progress. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
