import { importRows } from '@kith/contracts';
import type { ImportKind, RowNames } from './kinds.ts';
import type { Line } from './read-lines.ts';
import { readRow } from './read-row.ts';

/** The rows of one request, the names in these rows, and the position in the file where the rows end. */
export interface Batch extends RowNames {
  rows: string[];
  /** The line number of each row. */
  lines: number[];
  /** Lines that are not valid rows. */
  refused: { line: number; reason: string }[];
  end: { offset: number; line: number };
}

/**
 * The maximum number of bytes of one request. This is less than the 256 KiB that the platform accepts
 * (spec#requests-too-large).
 */
const mostBytes = 240 * 1024;

/** Groups lines into requests. Each line is in exactly one request, either as a row or as refused. */
export async function* batches(
  lines: AsyncIterable<Line>,
  kind: Pick<ImportKind, 'row' | 'rowsAtOnce' | 'addNames'>,
): AsyncGenerator<Batch> {
  let batch = emptyBatch();
  let bytes = 0;
  for await (const line of lines) {
    const read = readRow(line.bytes, kind.row);
    if (read && 'json' in read) {
      // A sent row is never longer than its line. So the request is not longer than the lengths of its lines together.
      const length = line.bytes.length;
      if (batch.rows.length === kind.rowsAtOnce || bytes + length > mostBytes) {
        yield batch;
        batch = emptyBatch();
        bytes = 0;
      }
      batch.rows.push(read.json);
      batch.lines.push(line.number);
      bytes += length + 1;
      kind.addNames(batch, read.row);
    } else if (read) batch.refused.push({ line: line.number, reason: read.reason });
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
  return {
    ...{ rows: [], lines: [], refused: [] },
    end: { offset: 0, line: 0 },
    ...{ takes: new Set(), needs: new Set() },
  };
}
