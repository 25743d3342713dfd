import { writeHead } from '../http/answer.ts';
import type { HttpResponse } from '../http/exchange.ts';

/** Milliseconds a client waits before it comes again. */
const retryMs = 2_000;

/** Writes Server-Sent Events (WHATWG HTML, 9.2) to a response, and knows whether the client reads them. */
export class EventWriter {
  readonly #response: HttpResponse;
  #blockedSince: number | undefined;

  /** @param onDrain Called when the client has read on after it did not. */
  constructor(response: HttpResponse, onDrain: () => void) {
    this.#response = response;
    response.on('drain', () => {
      this.#blockedSince = undefined;
      onDrain();
    });
  }

  /** Sends the headers. The connection ends with the stream: it cannot be told so any later. */
  begin(): void {
    writeStreamHead(this.#response);
    this.#write(`retry: ${retryMs}\n\n`);
  }

  /** Since when (`performance.now()`) the client has not read what was written; `undefined` while it does. */
  get blockedSince(): number | undefined {
    return this.#blockedSince;
  }

  event(event: { name: string; id?: number; data: unknown }): void {
    const id = event.id === undefined ? '' : `id: ${event.id}\n`;
    this.#write(`event: ${event.name}\n${id}data: ${JSON.stringify(event.data)}\n\n`);
  }

  /** Tells where the client would resume, without an event. */
  position(id: number): void {
    this.#write(`id: ${id}\n\n`);
  }

  /** Keeps proxies from closing the connection as idle. */
  comment(): void {
    if (this.#blockedSince === undefined) this.#write(':\n\n');
  }

  /** Ends the stream; the client comes again after `retryMs`. */
  end(options: { retryMs?: number } = {}): void {
    if (options.retryMs !== undefined) this.#write(`retry: ${options.retryMs}\n\n`);
    this.#response.end();
  }

  /** Ends the connection with what is not read yet. */
  destroy(): void {
    this.#response.destroy();
  }

  #write(text: string): void {
    if (!this.#response.writable) return;
    if (!this.#response.write(text)) this.#blockedSince ??= performance.now();
  }
}

/** Writes the head of a stream's answer. */
export function writeStreamHead(response: HttpResponse): void {
  const headers = {
    'Content-Type': 'text/event-stream',
    // For nginx, which would hold events back.
    'X-Accel-Buffering': 'no',
    Connection: 'close',
  };
  if (writeHead(response, { status: 200, headers })) response.flushHeaders();
}
