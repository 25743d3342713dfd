/** The last line of what a command has printed: with `--json` the result of a long one. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
