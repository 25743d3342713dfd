import { describe, expect, it } from 'vitest';
import { EventParser, type ServerSentEvent } from './event-parser.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function parse(text: string, cut = text.length): ServerSentEvent[] {
  const parser = new EventParser();
  const all = bytes(text);
  const events: ServerSentEvent[] = [];
  for (let at = 0; at < all.length; at += cut) events.push(...parser.push(all.subarray(at, at + cut)));
  return events;
}

// The examples of the WHATWG standard, and further cases for the rules in the text of the standard.
const cases: [string, string, ServerSentEvent[]][] = [
  ['several lines of data', 'data: YHOO\ndata: +2\ndata: 10\n\n', [event('YHOO\n+2\n10')]],
  [
    'one leading space of a value is removed',
    'data:test\n\ndata:  test\n\n',
    [event('test'), event(' test')],
  ],
  ['fields without a colon', 'data\n\ndata\ndata\n\ndata:', [event(''), event('\n')]],
  ['comments and unknown fields', ': hello\nfoo: bar\ndata: x\n\n', [event('x')]],
  ['types', 'event: add\ndata: 1\n\ndata: 2\n\n', [event('1', 'add'), event('2')]],
  [
    'an id also applies to later events',
    'id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n',
    [event('1', 'message', '7'), event('2', 'message', '7'), event('3')],
  ],
  ['an id with a null character is ignored', 'id: 1\0\ndata: x\n\n', [event('x')]],
  ['a block without data gives no event', 'event: x\nid: 1\n\ndata: y\n\n', [event('y', 'message', '1')]],
  ['an event without an end is not returned', 'data: x\n\ndata: y\n', [event('x')]],
  ['a byte order mark', '\uFEFFdata: x\n\n', [event('x')]],
  ['colons in a value', 'data: a:b: c\n\n', [event('a:b: c')]],
  ['any Unicode', 'data: Grüße 本 🎈\n\n', [event('Grüße 本 🎈')]],
];

function event(data: string, type = 'message', lastEventId = ''): ServerSentEvent {
  return { type, data, lastEventId };
}

describe('events', () => {
  for (const [what, text, expected] of cases) {
    it.each([
      ['\\n', '\n'],
      ['\\r', '\r'],
      ['\\r\\n', '\r\n'],
    ])(`${what}, with lines that end in %s, no matter where the bytes are cut`, (_, end) => {
      const stream = text.replaceAll('\n', end);
      for (const cut of [stream.length * 4, 1, 2, 3, 5, 7]) expect(parse(stream, cut)).toEqual(expected);
    });
  }

  it('a block without an event still sets the position and the time to wait', () => {
    const parser = new EventParser('3');
    expect(parser.lastEventId).toBe('3');
    expect(parser.push(bytes('retry: 2000\n\nid: 4\n'))).toEqual([]);
    expect([parser.lastEventId, parser.retryMs]).toEqual(['3', 2000]);
    parser.push(bytes('\nretry: soon\n\n'));
    expect([parser.lastEventId, parser.retryMs]).toEqual(['4', 2000]);
  });
});
