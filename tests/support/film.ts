/** The number of colours of a frame. */
const colours = 128;
/**
 * How many pixels follow each clear code. A clear code empties the table of the LZW decoder. With so few pixels between two
 * clear codes, each code has 8 bits and is the number of a colour. So a frame can be written without compression.
 */
const run = 126;
const [clear, end] = [colours, colours + 1];

/** A GIF whose frames have many colours, like those of a film. Each frame has its own palette, and its colours are dithered. */
export function filmOf({ width, height, frames }: { width: number; height: number; frames: number }): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const pixels = dithered(width, 2 * height);
  const all = Array.from({ length: frames }, (_, frame) => [
    Buffer.from([0x21, 0xf9, 4, 0, 4, 0, 0, 0]),
    Buffer.concat([Buffer.from([0x2c, 0, 0, 0, 0]), size, Buffer.from([0x86])]),
    paletteOf(frame),
    // Each frame begins one row later, so the picture moves.
    codesOf(pixels.subarray((frame % height) * width).subarray(0, width * height)),
  ]);
  const head = Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from([0x70, 0, 0])]);
  return Buffer.concat([head, ...all.flat(), Buffer.from(';')]);
}

/** Pixels that look like gradients of red, green and blue. Each pixel is the number of a colour in the palette. */
function dithered(width: number, height: number): Uint8Array {
  const level = (share: number, levels: number, at: number) =>
    Math.floor(share * (levels - 1) + ((at * 31) % 17) / 17);
  return Uint8Array.from({ length: width * height }, (_, at) => {
    const [across, down] = [(at % width) / width, Math.floor(at / width) / height];
    return level(across, 8, at) + 8 * level(down, 4, at + 5) + 32 * level((across + down) / 2, 4, at + 11);
  });
}

function paletteOf(frame: number): Buffer {
  const entries = Array.from({ length: colours }, (_, at) => [
    (at % 8) * 36,
    (Math.floor(at / 8) % 4) * (80 - (frame % 16)),
    Math.floor(at / 32) * 84,
  ]);
  return Buffer.from(entries.flat());
}

/** The pixels of a frame as codes of LZW, in blocks. */
function codesOf(pixels: Uint8Array): Buffer {
  const blocks: Uint8Array[] = [Buffer.from([7])];
  for (let at = 0; at < pixels.length; at += run) {
    const some = pixels.subarray(at, at + run);
    blocks.push(Buffer.from([some.length + 1, clear]), some);
  }
  return Buffer.concat([...blocks, Buffer.from([1, end, 0])]);
}
