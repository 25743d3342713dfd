/**
 * Gives back the memory of a chunk of a body at once: nobody may hold it, or a part of it, any more. Left to the collector, a body would
 * take as much memory as it has bytes.
 */
export function freeChunk(chunk: Buffer): void {
  const memory = chunk.buffer as ArrayBuffer;
  // The HTTP parser gives each chunk memory of its own. A part of something larger is left alone.
  if (chunk.byteLength === memory.byteLength) memory.transfer(0);
}
