/**
 * Frees the memory of a chunk of a body immediately. No code may use the chunk or a part of it afterwards. If this were left to
 * the garbage collector, a body would take as much memory as it has bytes.
 */
export function freeChunk(chunk: Buffer): void {
  const memory = chunk.buffer as ArrayBuffer;
  // The HTTP parser gives each chunk its own memory. A chunk that is part of a larger buffer stays as it is.
  if (chunk.byteLength === memory.byteLength) memory.transfer(0);
}
