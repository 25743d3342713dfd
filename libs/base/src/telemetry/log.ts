import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { LineWriter } from './line-writer.ts';
import { readableLine } from './readable-line.ts';

export type { Logger } from 'pino';

/**
 * Makes a process's logger. It writes JSON lines to stdout, or readable lines on a terminal. Callers must not log tokens, keys
 * or the bodies of requests. As a safeguard, the value of a field that has the name of a secret is redacted.
 */
export function createLogger(options: {
  name: string;
  level: string;
  destination?: DestinationStream;
}): Logger {
  const settings = {
    name: options.name,
    level: options.level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError },
    redact: {
      paths: [
        'authorization',
        'password',
        'privateKey',
        'token',
        '*.authorization',
        '*.password',
        '*.privateKey',
        '*.token',
      ],
      censor: '[redacted]',
    },
  };
  if (options.destination) return pino(settings, options.destination);
  stdoutLines ??= writerOfStdout();
  const lines = stdoutLines;
  if (!process.stdout.isTTY) return pino(settings, lines);
  return pino(settings, { write: (line) => lines.write(readableLine(line)) });
}

let stdoutLines: LineWriter | undefined;

function writerOfStdout(): LineWriter {
  const lines = new LineWriter(1);
  process.on('exit', () => lines.end());
  return lines;
}

/** The maximum number of errors of an `AggregateError` that are logged. The error of a sweep may have thousands. */
const mostErrors = 5;

/**
 * Returns the type, message, stack and code of an error, of its causes and of the first errors of an `AggregateError`. All other
 * fields are left out, because they may contain what a client has sent.
 */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return stdSerializers.err(new Error(String(error)));
  const cause: unknown = error.cause;
  return {
    type: error.name,
    message: error.message,
    code: (error as { code?: unknown }).code,
    stack: error.stack,
    ...(cause instanceof Error ? { cause: serializeError(cause) } : {}),
    ...(error instanceof AggregateError
      ? { errors: error.errors.slice(0, mostErrors).map(serializeError) }
      : {}),
  };
}
