import type { FileHandle } from 'node:fs/promises';

/** A line of a file, without its line break. */
export interface Line {
  /** The line's number, from 1 on. */
  number: number;
  bytes: Buffer;
  /** Where the next line begins. */
  end: number;
}

const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/**
 * Reads lines from a position on. Returns the last line even if it has no line end. If a line is longer than 1 MiB, a part of
 * it may be left out, because no row is that long. So a file without line ends never fills the memory. An earlier run may have
 * read the line before `from` when this line had no line end yet. If a line end was added since, it does not count as an empty
 * line.
 */
export async function* readLines(
  file: FileHandle,
  from: { offset: number; line: number },
): AsyncGenerator<Line> {
  let { offset, line } = from;
  offset += await leftLineEnd(file, offset);
  let position = offset;
  let begun = Buffer.alloc(0);
  let dropped = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes), position });
    if (bytesRead === 0) break;
    position += bytesRead;
    const read = buffer.subarray(0, bytesRead);
    let start = 0;
    for (let end = read.indexOf(newline); end >= 0; end = read.indexOf(newline, start)) {
      const rest = read.subarray(start, end);
      offset += begun.length + dropped + rest.length + 1;
      yield { number: ++line, bytes: begun.length === 0 ? rest : Buffer.concat([begun, rest]), end: offset };
      begun = Buffer.alloc(0);
      dropped = 0;
      start = end + 1;
    }
    const rest = read.subarray(start);
    const kept = rest.subarray(0, Math.max(chunkBytes - begun.length, 0));
    begun = Buffer.concat([begun, kept]);
    dropped += rest.length - kept.length;
  }
  if (begun.length > 0) yield { number: line + 1, bytes: begun, end: offset + begun.length + dropped };
}

/**
 * How many bytes at `offset` are the line end of the previous line. 0 if the previous line already has a line end before
 * `offset`.
 */
async function leftLineEnd(file: FileHandle, offset: number): Promise<number> {
  if (offset === 0) return 0;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(3), 0, 3, offset - 1);
  const [before, ...next] = buffer.toString('latin1', 0, bytesRead);
  if (before === '\n') return 0;
  return /^\r?\n/.exec(next.join(''))?.[0].length ?? 0;
}
