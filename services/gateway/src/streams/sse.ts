import { cutOff, writeHead } from '../http/answer.ts';
import type { HttpResponse } from '../http/exchange.ts';

/** How long a client waits before it connects again, in ms. */
const retryMs = 2_000;

/** Writes Server-Sent Events (WHATWG HTML, 9.2) to a response, and knows whether the client reads them. */
export class EventWriter {
  readonly #response: HttpResponse;
  #blockedSince: number | undefined;

  /** @param onDrain Called when a client that had stopped reading reads again. */
  constructor(response: HttpResponse, onDrain: () => void) {
    this.#response = response;
    response.on('drain', () => {
      this.#blockedSince = undefined;
      onDrain();
    });
  }

  /**
   * Begins the answer with its headers. One of the headers announces that the connection ends with the stream, because nothing
   * after the headers can announce this.
   */
  begin(): void {
    writeStreamHead(this.#response);
    this.#write(`retry: ${retryMs}\n\n`);
    // If the client ends its side of the connection, other answers are still sent to their end. But a stream does not end by
    // itself. So the connection of a client that has gone would stay open until the next write. For this reason, the end of the
    // client's side ends the stream.
    const { socket } = this.#response.req;
    if (socket.readableEnded) this.destroy();
    else socket.once('end', () => this.destroy());
  }

  /**
   * When written data began to wait for the client to read it, as `performance.now()`. `undefined` while the client reads.
   */
  get blockedSince(): number | undefined {
    return this.#blockedSince;
  }

  event(event: { name: string; id?: number; data: unknown }): void {
    const id = event.id === undefined ? '' : `id: ${event.id}\n`;
    this.#write(`event: ${event.name}\n${id}data: ${JSON.stringify(event.data)}\n\n`);
  }

  /** Sends no event, but the position from which the client would resume. */
  position(id: number): void {
    this.#write(`id: ${id}\n\n`);
  }

  /** Sends a comment, so that no proxy closes the connection as idle. Sends none while the client does not read. */
  comment(): void {
    if (this.#blockedSince === undefined) this.#write(':\n\n');
  }

  /** Ends the stream; the client connects again after `retryMs`. */
  end(options: { retryMs?: number } = {}): void {
    if (options.retryMs !== undefined) this.#write(`retry: ${options.retryMs}\n\n`);
    this.#response.end();
  }

  /** Ends the connection, and drops what the client has not read yet. */
  destroy(): void {
    cutOff(this.#response);
  }

  #write(text: string): void {
    // This method does not check `writable`, because `writable` stays true after the end.
    if (this.#response.writableEnded || this.#response.destroyed) return;
    if (!this.#response.write(text)) this.#blockedSince ??= performance.now();
  }
}

/** Writes the head of a stream's answer. */
export function writeStreamHead(response: HttpResponse): void {
  const headers = {
    'Content-Type': 'text/event-stream',
    // Without this header, nginx would hold events back.
    'X-Accel-Buffering': 'no',
    Connection: 'close',
  };
  if (writeHead(response, { status: 200, headers })) response.flushHeaders();
}
