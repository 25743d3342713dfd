import { readInput } from '@kith/contracts';
import type { z } from 'zod';
import { reasonOf } from './reason.ts';

/**
 * A row, both as the JSON to send and as the parsed value. If the line is not a valid row: the reason, which quotes no values.
 */
export type ReadRow<Row> = { json: string; row: Row } | { reason: string };

const decoder = new TextDecoder('utf-8', { fatal: true });
/** The maximum length of a line, in bytes. It is less than the 256 KiB of a request, and far more than the longest row. */
const longest = 200 * 1024;

/** Reads a line as a row of its schema. Returns `undefined` for a blank line. */
export function readRow<Row>(
  bytes: Uint8Array,
  schema: z.ZodObject & z.ZodType<Row>,
): ReadRow<Row> | undefined {
  if (bytes.length > longest) return { reason: `The line is longer than ${longest} bytes.` };
  let json: string;
  let value: unknown;
  try {
    json = decoder.decode(bytes).trim();
    if (json === '') return undefined;
    value = JSON.parse(json);
  } catch {
    return { reason: 'The line is not JSON in UTF-8.' };
  }
  const read = readInput(schema, value);
  // The line is sent unchanged, because the platform parses it by the same schema.
  return read.faults ? { reason: reasonOf(value, read.faults, schema) } : { json, row: read.data };
}
