import { open } from 'node:fs/promises';

/** How many bytes are read at a time. */
const windowBytes = 64 * 1024;
/** The lengths of fixed parts (GIF89a, sections 17 to 23). */
const headBytes = 13;
const imageHeadBytes = 10;
const extensionHeadBytes = 2;

/**
 * Whether a GIF has all bytes of its blocks. sharp does not notice that an animation is cut off: it renders the frames that are
 * there. If a GIF ends after a block, without the byte that marks its end, it still counts as whole, because some encoders leave
 * out this byte. A GIF with an unknown block counts as whole, too: then sharp decides whether it can be read.
 */
export async function isWholeGif(path: string): Promise<boolean> {
  await using file = await open(path);
  const piece = Buffer.alloc(windowBytes);
  let [from, length] = [0, 0];
  const byteAt = async (at: number): Promise<number | undefined> => {
    if (at < from || at >= from + length) {
      from = at;
      length = (await file.read(piece, 0, windowBytes, at)).bytesRead;
    }
    return at < from + length ? piece[at - from] : undefined;
  };
  /** The position after the sub-blocks that begin at `at`; undefined if they are cut off. */
  const afterSubBlocks = async (at: number): Promise<number | undefined> => {
    for (let next = at; ; ) {
      const size = await byteAt(next);
      if (size === undefined) return undefined;
      next += 1 + size;
      if (size === 0) return next;
    }
  };
  let at: number | undefined = headBytes + coloursOf((await byteAt(10)) ?? 0);
  while (at !== undefined) {
    const block = await byteAt(at);
    if (block === 0x21) at = await afterSubBlocks(at + extensionHeadBytes);
    else if (block === 0x2c) {
      const flags = (await byteAt(at + imageHeadBytes - 1)) ?? 0;
      // One more byte, the code size, comes before the pixels.
      at = await afterSubBlocks(at + imageHeadBytes + coloursOf(flags) + 1);
    } else return true;
  }
  return false;
}

/** The number of bytes of the colour table that these flags announce. */
function coloursOf(flags: number): number {
  return flags < 0x80 ? 0 : 3 * 2 ** ((flags % 8) + 1);
}
