import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { BufferPool } from '@kith/base';
import { freeChunk } from '@kith/service';

/**
 * An answer of at least this many bytes is faster if it bypasses Node's HTTP parser. This is true even though its connection
 * cannot be reused afterwards.
 */
export const longBytes = 512 * 1024;

/**
 * All connections read into this buffer. They can share it, because the bytes of a read are handled before the next read, and
 * the parser copies what it keeps. If each connection had its own buffer, V8 would collect garbage more often to free these
 * buffers, which takes CPU time.
 */
const shared = Buffer.allocUnsafeSlow(64 * 1024);
/** The buffers of long answers. Each answer uses two buffers. Buffers of half or twice the size are no faster. */
const pool = new BufferPool(512 * 1024, 32);

/** How a connection is read. */
interface Reading {
  /** Bytes are read into the first buffer. The order of the buffers is reversed for each read. */
  buffers: Uint8Array[];
  /** Takes the bytes that bypass Node's HTTP parser, and returns whether there is a free buffer for the next read. */
  pass?: (chunk: Uint8Array) => boolean;
}

const readings = new WeakMap<Socket, Reading>();

/**
 * Connections to services. They read into buffers that are used again (`shared`, `pool`). Node's own connections allocate new
 * memory for each 64 KiB, and the parser copies the bytes once more. Collecting this garbage takes longer than sending the
 * bytes (bench/README.md, files).
 */
export class ByteAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Socket {
    const reading: Reading = { buffers: [shared] };
    const onRead = (length: number, buffer: Uint8Array): boolean => {
      const chunk = buffer.subarray(0, length);
      if (reading.pass) return reading.pass(chunk);
      socket.emit('data', chunk);
      // If the bytes are to bypass the parser from now on, `passBytes` starts the next read.
      return !reading.pass;
    };
    const nextBuffer = () => reading.buffers.reverse()[0] as Uint8Array;
    const socket = connect({
      ...(options as NetConnectOpts),
      onread: { buffer: nextBuffer, callback: onRead },
    });
    readings.set(socket, reading);
    return socket;
  }
}

/**
 * Passes on the bytes of a long answer, as fast as the client reads. The bytes bypass Node's HTTP parser. Call this while the
 * head of the answer is being handled. When the answer ends, its connection ends, too. Rejects if the client or the service
 * closes its connection early.
 */
export async function passBytes(
  reply: IncomingMessage,
  response: ServerResponse,
  length: number,
): Promise<void> {
  const { socket } = reply;
  const reading = readings.get(socket);
  if (!reading) throw new TypeError('The connection was not made by a ByteAgent.');
  // While the bytes of one buffer are written to the client, the next bytes are read into the other buffer.
  const buffers = [pool.take(), pool.take()];
  reading.buffers = buffers;
  let left = length;
  let writing = 0;
  const isPassed = new Promise<void>((resolve, reject) => {
    const pass = (read: Uint8Array, onWritten?: () => void): boolean => {
      const chunk = read.subarray(0, left);
      left -= chunk.length;
      writing++;
      response.write(chunk, (error) => {
        writing--;
        if (error) return reject(error);
        onWritten?.();
        if (left > 0) socket.resume();
        else if (writing === 0) resolve();
      });
      return left > 0 && writing < 2;
    };
    reading.pass = pass;
    // When this runs, the parser has handled the bytes that came with the head.
    process.nextTick(() => {
      const first = reply.read() as Buffer | null;
      if (!first || pass(first, () => freeChunk(first))) socket.resume();
    });
  });
  // When the connection ends, the parser reports an error, because it still waits for the bytes that bypassed it. This error is
  // ignored.
  reply.on('error', () => undefined);
  const gone = new AbortController();
  const isBroken = Promise.race(
    [socket, response].map((side) => once(side, 'close', { signal: gone.signal })),
  ).then(() => {
    throw new Error('A connection was closed before the end of an answer.');
  });
  try {
    await Promise.race([isPassed, isBroken]);
    response.end();
    // If an answer ends early, a write may still use its buffers. So these buffers are not given back to the pool.
    socket.once('close', () => pool.giveBack(...buffers));
  } finally {
    gone.abort();
    isBroken.catch(() => undefined);
    socket.destroy();
  }
}

/** Frees the memory of each chunk of a request as soon as the chunk is written. No other code may hold the chunks. */
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
