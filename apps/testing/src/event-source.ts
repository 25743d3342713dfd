import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

/** One received event, unchanged. */
export interface Received {
  event: string;
  id: string | undefined;
  data: unknown;
}

/** A client of Server-Sent Events that does not reconnect by itself. */
export class EventSource implements Disposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: Received[] = [];
  /** The last received id. An id can also come without an event. */
  lastId: string | undefined;
  retryMs: number | undefined;
  comments = 0;
  isEnded = false;
  /** The body of the answer, if the answer is not a stream. */
  text = '';
  readonly #response: IncomingMessage;
  readonly #outgoing: ClientRequest;
  #rest = '';

  private constructor(outgoing: ClientRequest, response: IncomingMessage) {
    this.#outgoing = outgoing;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#read(chunk));
    // If the connection is cut, the stream ends with ECONNRESET. Callers see this end in `isEnded`.
    response.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET') throw error;
    });
    response.on('close', () => {
      this.isEnded = true;
    });
  }

  /** Opens a stream. Resolves when the head of the answer has come. */
  static open(
    url: string,
    options: {
      token: string;
      lastEventId?: string | undefined;
      method?: string;
      headers?: Record<string, string>;
    },
  ): Promise<EventSource> {
    const headers: Record<string, string> = { ...options.headers, authorization: `Bearer ${options.token}` };
    if (options.lastEventId !== undefined) headers['last-event-id'] = options.lastEventId;
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { headers, agent: false, method: options.method ?? 'GET' });
      outgoing.once('response', (response) => resolve(new EventSource(outgoing, response)));
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** Stops reading, like a client that hangs. */
  pause(): void {
    this.#response.pause();
  }

  /** Disconnects without notice. */
  [Symbol.dispose](): void {
    this.#outgoing.destroy();
  }

  #read(chunk: string): void {
    this.text += chunk;
    const blocks = (this.#rest + chunk).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#take(block.split('\n'));
  }

  #take(lines: readonly string[]): void {
    const fields = new Map<string, string>();
    for (const line of lines) {
      if (line.startsWith(':')) this.comments++;
      const at = line.indexOf(': ');
      if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
    }
    const id = fields.get('id');
    if (id !== undefined) this.lastId = id;
    if (fields.has('retry')) this.retryMs = Number(fields.get('retry'));
    const data = fields.get('data');
    if (data !== undefined) {
      this.events.push({ event: fields.get('event') ?? 'message', id, data: JSON.parse(data) });
    }
  }
}
