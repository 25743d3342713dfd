import { open } from 'node:fs/promises';

/** How many bytes are read at a time. */
const pieceBytes = 64 * 1024;
/** The lengths of the fixed parts at the beginning of a file and of its blocks (GIF89a, sections 17 to 23). */
const headBytes = 13;
const imageHeadBytes = 10;
const extensionHeadBytes = 2;

/**
 * Whether a GIF has all bytes of its blocks. sharp does not notice that an animation is cut off: it renders the frames that are
 * there. If a GIF ends after a block, without the byte that marks its end, it still counts as whole, because some encoders leave
 * out this byte. A GIF with an unknown block counts as whole, too: then sharp decides whether it can be read.
 */
export async function isWholeGif({ path, signal }: { path: string; signal: AbortSignal }): Promise<boolean> {
  await using file = await open(path);
  const piece = Buffer.alloc(pieceBytes);
  let [from, length] = [0, 0];
  const heldAt = (at: number) => (at >= from && at < from + length ? piece[at - from] : undefined);
  const loadedAt = async (at: number) => {
    signal.throwIfAborted();
    from = at;
    length = (await file.read(piece, 0, pieceBytes, at)).bytesRead;
    return heldAt(at);
  };
  let at = headBytes + coloursOf((await loadedAt(headBytes - 3)) ?? 0);
  let isInSubBlocks = false;
  for (;;) {
    // A GIF can have millions of blocks, so this loop waits only if bytes have to be read.
    const byte = heldAt(at) ?? (await loadedAt(at));
    if (byte === undefined) return !isInSubBlocks;
    if (isInSubBlocks) {
      at += 1 + byte;
      isInSubBlocks = byte !== 0;
    } else if (byte === 0x21) {
      at += extensionHeadBytes;
      isInSubBlocks = true;
    } else if (byte === 0x2c) {
      const flagsAt = at + imageHeadBytes - 1;
      const flags = heldAt(flagsAt) ?? (await loadedAt(flagsAt)) ?? 0;
      // One more byte, the code size, comes before the pixels.
      at += imageHeadBytes + coloursOf(flags) + 1;
      isInSubBlocks = true;
    } else return true;
  }
}

/** The number of bytes of the colour table that these flags announce. */
function coloursOf(flags: number): number {
  return flags < 0x80 ? 0 : 3 * 2 ** ((flags % 8) + 1);
}
