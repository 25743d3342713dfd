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

/** From this many bytes on, an answer is worth giving up its connection for. More than one read holds. */
export const longBytes = 2 * bufferBytes;

/** Connections whose bytes go past the parser. */
const passages = new WeakMap<Socket, (chunk: Uint8Array) => void>();

/**
 * Connections to services that are read into one buffer each, again and again. Node's own give each 64 KiB memory of their own,
 * and the parser copies them once more: collecting that takes longer than sending the bytes (bench/README.md, files).
 */
export class ByteAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    const onRead = (length: number, buffer: Uint8Array): boolean => {
      const chunk = buffer.subarray(0, length);
      const pass = passages.get(socket);
      if (pass) pass(chunk);
      // The parser copies what it keeps.
      else socket.emit('data', chunk);
      // From then on each read is asked for.
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
 * Sends the bytes of a long answer on, past the parser, at the pace of whoever reads them. To be called while the head of the
 * answer is told. Its connection ends with it. Rejects when either side breaks off.
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
    // What came with the head has been parsed by then.
    process.nextTick(() => {
      const first = reply.read() as Uint8Array | null;
      if (first) pass(first);
      else socket.resume();
    });
  });
  // The parser reports an error when the connection ends: it still waits for the bytes that went past it.
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

/** Gives back the memory of each chunk of a request as soon as it is written. Nobody else may hold the chunks. */
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
