/** The last line that a command has printed. For a long command with `--json`, this is the result. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
