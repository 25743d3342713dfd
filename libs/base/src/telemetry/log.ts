import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { readableLine } from './readable-line.ts';

export type { Logger } from 'pino';

/**
 * Makes a process's logger: it writes JSON lines to stdout, or readable lines on a terminal. It never gets bodies of
 * requests, tokens or keys; the redaction is for fields that an error object of a library may contain.
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
  if (!process.stdout.isTTY) return pino(settings);
  return pino(settings, { write: (line) => void process.stdout.write(readableLine(line)) });
}

/** Returns type, message, stack and code of an error and its causes. Leaves out all other fields, which may hold inputs. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return stdSerializers.err(new Error(String(error)));
  const cause: unknown = error.cause;
  return {
    type: error.name,
    message: error.message,
    code: (error as { code?: unknown }).code,
    stack: error.stack,
    ...(cause instanceof Error ? { cause: serializeError(cause) } : {}),
  };
}
