/** A comment, or an assignment. A backslash at the end of a line continues a value, but not a comment. */
const entry =
  /^[ \t]*(?:[#;][^\n]*|(?<name>[^=\n]+)=(?<quoted>(?:[ \t]*(?:'[^']*'?|"(?:\\.|[^\\"])*"?))*)[ \t]*(?<bare>(?:\\.?|[^\\\n])*?)[ \t]*$)/gms;
const quoted = /'([^']*)'?|"((?:\\.|[^\\"])*)"?/gs;

/**
 * Reads the variables of a file as systemd reads a unit's `EnvironmentFile` (systemd.exec(5)). Node's `parseEnv` differs: it cuts
 * a value at `#`, for example. Lines without a valid name are ignored, such as lines that begin with `export`.
 */
export function readEnvironmentFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { groups = {} } of text.replaceAll(/\r\n?/g, '\n').matchAll(entry)) {
    const name = groups.name?.trim() ?? '';
    if (/^[A-Za-z_]\w*$/.test(name)) variables[name] = quotedOf(groups.quoted) + bareOf(groups.bare);
  }
  return variables;
}

function quotedOf(text = ''): string {
  const parts = text.matchAll(quoted).map(([, single, double = '']) => {
    // In double quotes, a backslash before any other character stands for itself.
    return single ?? double.replaceAll(/\\(?:\n|(["\\`$]))/g, '$1');
  });
  return [...parts].join('');
}

function bareOf(text = ''): string {
  return text.replaceAll(/\\(?:\n|(.?))/gs, '$1');
}
