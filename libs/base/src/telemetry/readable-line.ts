import { inspect, styleText } from 'node:util';

interface LoggedError {
  type?: string;
  message?: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
}

const colors = { fatal: 'red', error: 'red', warn: 'yellow', info: 'green' } as const;

/**
 * Formats a line of the log for a person at a terminal. The first line has time, level and text, and one line follows for each
 * further field.
 */
export function readableLine(line: string): string {
  const { time, level, name, msg = '', err, pid: _pid, hostname: _hostname, ...fields } = JSON.parse(line);
  const label = styleText(colors[level as keyof typeof colors] ?? 'gray', level.toUpperCase());
  const lines = [`${time.slice(11, 23)} ${label} ${name}: ${msg}`];
  for (const [field, value] of Object.entries(fields)) {
    lines.push(`    ${field}: ${typeof value === 'string' ? value : inspect(value, { depth: 6 })}`);
  }
  if (err) lines.push(`    ${describe(err).replaceAll('\n', '\n    ')}`);
  return `${lines.join('\n')}\n`;
}

function describe({ type, message, stack, cause, errors = [] }: LoggedError): string {
  const text = stack ?? `${type}: ${message}`;
  const reasons = cause ? [cause, ...errors] : errors;
  return [text, ...reasons.map((reason) => `caused by ${describe(reason)}`)].join('\n');
}
