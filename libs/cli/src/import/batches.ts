import { importRows } from '@kith/contracts';
import type { z } from 'zod';
import type { Line } from './read-lines.ts';
import { readRow } from './read-row.ts';

/** Rows of one request, and where in the file they end. */
export interface Batch {
  rows: string[];
  /** The line of each row. */
  lines: number[];
  /** Lines that are no rows. */
  refused: { line: number; reason: string }[];
  end: { offset: number; line: number };
}

/** Under the 256 KiB of a request (SPEC A2). */
const mostBytes = 240 * 1024;

/** Groups lines into requests; each line is in one of them, as a row or as refused. */
export async function* batches(lines: AsyncIterable<Line>, schema: z.ZodType): AsyncGenerator<Batch> {
  let batch = emptyBatch();
  let bytes = 0;
  for await (const line of lines) {
    const row = readRow(line.bytes, schema);
    if (row && 'json' in row) {
      if (batch.rows.length === importRows || bytes + row.bytes > mostBytes) {
        yield batch;
        batch = emptyBatch();
        bytes = 0;
      }
      batch.rows.push(row.json);
      batch.lines.push(line.number);
      bytes += row.bytes + 1;
    } else if (row) batch.refused.push({ line: line.number, reason: row.reason });
    batch.end = { offset: line.end, line: line.number };
    if (batch.refused.length === importRows) {
      yield batch;
      batch = emptyBatch();
      bytes = 0;
    }
  }
  if (batch.end.line > 0) yield batch;
}

function emptyBatch(): Batch {
  return { rows: [], lines: [], refused: [], end: { offset: 0, line: 0 } };
}
