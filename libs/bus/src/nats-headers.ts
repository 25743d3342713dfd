import type { Msg, MsgHdrs } from '@nats-io/transport-node';

/**
 * Headers as the text that the client sends. The client's own class would first store the headers in a map, and check their
 * names and values. But `checkedMessage` has already checked them. For the nine header lines of a request, this class takes 0.4
 * µs instead of 3.1 µs (bench/README.md).
 */
class WrittenHeaders {
  readonly #lines: string;

  constructor(from: Record<string, string>) {
    let lines = 'NATS/1.0\r\n';
    for (const name in from) lines += `${name}: ${from[name]}\r\n`;
    this.#lines = `${lines}\r\n`;
  }

  /** The client's `publish` calls no other method of the headers. */
  encode(): Uint8Array {
    return Buffer.from(this.#lines);
  }
}

/** Encodes a message's headers for the client's `publish`. */
export function encodeHeaders(from: Record<string, string>): MsgHdrs {
  return new WrittenHeaders(from) as unknown as MsgHdrs;
}

/** Reads a message's headers. */
export function decodeHeaders({ headers: from }: Pick<Msg, 'headers'>): Record<string, string> {
  const to: Record<string, string> = {};
  if (from) for (const name of from.keys()) to[name] = from.get(name);
  return to;
}
