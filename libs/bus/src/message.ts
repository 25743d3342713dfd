import { type Message, maxPayload } from './bus.ts';

// Both buses accept only header names that match this pattern (a token of RFC 9110), and header values without line breaks.
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The size of a message on the wire, in bytes: its body, and its headers in the form in which NATS writes them. */
export function messageSize(message: Message): number {
  const { headers, body } = message;
  let lines = 0;
  for (const name in headers) {
    lines += name.length + Buffer.byteLength((headers[name] as string).trim()) + ': \r\n'.length;
  }
  return body.length + (lines > 0 ? 'NATS/1.0\r\n\r\n'.length + lines : 0);
}

/**
 * Checks a message before it is sent, so that both buses refuse the same messages. Trims header values as NATS does. Throws
 * `RangeError` for a message that is too large, and `TypeError` for a header that cannot be written.
 */
export function checkedMessage(message: Message): Message {
  if (messageSize(message) > maxPayload) throw new RangeError(`A message holds at most ${maxPayload} bytes.`);
  const headers: Record<string, string> = {};
  for (const name in message.headers) {
    const value = message.headers[name] as string;
    if (!headerName.test(name)) throw new TypeError('This is not a valid name for a header.');
    if (/[\r\n]/.test(value)) throw new TypeError(`The header ${name} contains a line break.`);
    headers[name] = value.trim();
  }
  return { headers, body: message.body };
}
