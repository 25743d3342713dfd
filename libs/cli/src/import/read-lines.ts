import type { FileHandle } from 'node:fs/promises';

/** A line of a file, without its end. */
export interface Line {
  /** Counts from 1. */
  number: number;
  bytes: Buffer;
  /** Where the next line begins. */
  end: number;
}

const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/** Reads lines from a position on. A last one without a line end counts as well. */
export async function* readLines(
  file: FileHandle,
  from: { offset: number; line: number },
): AsyncGenerator<Line> {
  let { offset, line } = from;
  let rest = Buffer.alloc(0);
  let position = offset;
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes), position });
    if (bytesRead === 0) break;
    position += bytesRead;
    const read = buffer.subarray(0, bytesRead);
    const held = rest.length === 0 ? read : Buffer.concat([rest, read]);
    let start = 0;
    for (let end = held.indexOf(newline); end >= 0; end = held.indexOf(newline, start)) {
      offset += end + 1 - start;
      yield { number: ++line, bytes: held.subarray(start, end), end: offset };
      start = end + 1;
    }
    rest = held.subarray(start);
  }
  if (rest.length > 0) yield { number: line + 1, bytes: rest, end: offset + rest.length };
}
