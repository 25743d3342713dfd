/** The last line that a command has printed: for a long command with `--json`, its result. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
