import type { z } from 'zod';

/** A row as it is sent, or why it is none. Reasons never quote what stands in the line. */
export type ReadRow = { json: string; bytes: number } | { reason: string };

const decoder = new TextDecoder('utf-8', { fatal: true });
/** A request holds 256 KiB; far more than the longest row that can be right. */
const longest = 200 * 1024;

/** Reads a line as a row of its schema; nothing for a blank line. */
export function readRow(bytes: Uint8Array, schema: z.ZodType): ReadRow | undefined {
  if (bytes.length > longest) return { reason: `The line is longer than ${longest} bytes.` };
  let value: unknown;
  try {
    const text = decoder.decode(bytes).trim();
    if (text === '') return undefined;
    value = JSON.parse(text);
  } catch {
    return { reason: 'The line is no JSON in UTF-8.' };
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.join('.');
    return { reason: field ? `${field}: ${issue?.message}` : (issue?.message ?? 'It is no row.') };
  }
  const json = JSON.stringify(parsed.data);
  return { json, bytes: Buffer.byteLength(json) };
}
