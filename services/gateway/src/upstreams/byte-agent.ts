import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { freeChunk } from '@kith/service';

const bufferBytes = 256 * 1024;

/**
 * If an answer has at least this many bytes, it pays to bypass the parser and to give up the connection. One read holds fewer
 * bytes than this.
 */
export const longBytes = 2 * bufferBytes;

/** Connections whose bytes bypass the parser. */
const passages = new WeakMap<Socket, (chunk: Uint8Array) => void>();

/**
 * Connections to services. Each connection reuses one buffer for all reads. Node's own connections allocate new memory for each
 * 64 KiB, and the parser copies the bytes once more. Collecting this garbage takes longer than sending the bytes
 * (bench/README.md, files).
 */
export class ByteAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    const onRead = (length: number, buffer: Uint8Array): boolean => {
      const chunk = buffer.subarray(0, length);
      const pass = passages.get(socket);
      if (pass) pass(chunk);
      // The buffer can be reused, as the parser copies what it keeps.
      else socket.emit('data', chunk);
      // Once the bytes bypass the parser, each further read has to be asked for.
      return !passages.has(socket);
    };
    const socket = connect({
      ...(options as NetConnectOpts),
      onread: { buffer: Buffer.allocUnsafeSlow(bufferBytes), callback: onRead },
    });
    return socket;
  }
}

/**
 * Passes on the bytes of a long answer, as fast as the client reads. The bytes bypass the parser. Call this while the head of
 * the answer is being handled. When the answer ends, its connection ends, too. Rejects if either side breaks off.
 */
export async function passBytes(
  reply: IncomingMessage,
  response: ServerResponse,
  length: number,
): Promise<void> {
  const { socket } = reply;
  let left = length;
  const isPassed = new Promise<void>((resolve, reject) => {
    const pass = (read: Uint8Array) => {
      const chunk = read.subarray(0, left);
      left -= chunk.length;
      response.write(chunk, (error) => {
        if (error) reject(error);
        else if (left > 0) socket.resume();
        else resolve();
      });
    };
    passages.set(socket, pass);
    // When this runs, the parser has handled the bytes that came with the head.
    process.nextTick(() => {
      const first = reply.read() as Uint8Array | null;
      if (first) pass(first);
      else socket.resume();
    });
  });
  // When the connection ends, the parser reports an error, because it still waits for the bytes that bypassed it.
  reply.on('error', () => undefined);
  const gone = new AbortController();
  const isBroken = Promise.race(
    [socket, response].map((side) => once(side, 'close', { signal: gone.signal })),
  ).then(() => {
    throw new Error('An answer was broken off.');
  });
  try {
    await Promise.race([isPassed, isBroken]);
    response.end();
  } finally {
    gone.abort();
    isBroken.catch(() => undefined);
    socket.destroy();
  }
}

/** Gives back the memory of each chunk of a request as soon as the chunk is written. No other code may hold the chunks. */
export function freeWritten(outgoing: ClientRequest): void {
  const write = outgoing.write.bind(outgoing) as (
    chunk: Buffer,
    done: (error?: Error | null) => void,
  ) => boolean;
  outgoing.write = ((chunk: Buffer) =>
    write(chunk, (error) => {
      if (!error) freeChunk(chunk);
    })) as typeof outgoing.write;
}
