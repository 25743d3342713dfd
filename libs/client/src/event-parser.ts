/** One event of a stream. */
export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
  /** The id of this event. If the event has none, the last id that was received before it. */
  readonly lastEventId: string;
}

/** Reads Server-Sent Events from chunks of bytes. The chunks may be cut anywhere (WHATWG HTML 9.2.6). */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #endsInReturn = false;
  #data = '';
  #type = '';
  #id: string;
  /** The last id that was received, even if it came without an event. */
  lastEventId: string;
  /** How long the server last asked to wait before reconnecting, in ms. */
  retryMs: number | undefined;

  /** @param lastEventId The event after which the stream continues. */
  constructor(lastEventId = '') {
    this.#id = lastEventId;
    this.lastEventId = lastEventId;
  }

  /** Takes the next bytes. Returns the events that these bytes complete. */
  push(bytes: Uint8Array): ServerSentEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return [];
    // The previous bytes ended with `\r`. So this `\n` belongs to the same line break.
    if (this.#endsInReturn && text.startsWith('\n')) text = text.slice(1);
    this.#endsInReturn = text.endsWith('\r');
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') this.#data += `${value}\n`;
    else if (field === 'event') this.#type = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const { length } = this.#data;
    const event = { type: this.#type || 'message', data: this.#data.slice(0, -1), lastEventId: this.#id };
    this.lastEventId = this.#id;
    this.#data = '';
    this.#type = '';
    return length > 0 ? event : undefined;
  }
}
