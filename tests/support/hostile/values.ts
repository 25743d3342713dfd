import { Buffer } from 'node:buffer';

/** How many bytes of a body are kept free for members beside the hostile member. */
const roomForOthers = 8 * 1024;

/**
 * Texts that some functions process much more slowly than other texts of the same length. Each has at most `bytes` bytes as
 * UTF-8 JSON.
 */
export function hostileTexts(bytes: number): Record<string, string> {
  const fill = (part: string, end = '', begin = '') => {
    const each = Buffer.byteLength(JSON.stringify(part)) - 2;
    const rest = Buffer.byteLength(JSON.stringify(begin + end)) - 2;
    return begin + part.repeat(Math.max(0, Math.floor((bytes - rest) / each))) + end;
  };
  return {
    'combining marks': fill('\u0301', '', 'a'),
    'marks of many classes': fill('\u0301\u0327\u0328\u0316\u05b0\u3099', '', 'a'),
    'a ligature that becomes eighteen letters': fill('\ufdfa'),
    'jamo that compose': fill('\u1100\u1161\u11a8'),
    'letters that grow in lower case': fill('\u0130'),
    'white space before a letter': fill(' ', 'x'),
    'white space inside': fill(' ', 'x', 'x'),
    'line breaks': fill('\n', 'x', 'x'),
    'one letter': fill('a'),
    'at signs': fill('@'),
    'an address without an end': fill('a@'),
    'a domain without an end': fill('a.', '!', 'a@'),
    'a domain of hyphens': fill('-', '!', 'a@a'),
    dots: fill('.', 'x', 'a'),
    'a web address of labels': fill('a.', '', 'https://'),
    'a web address of at signs': fill('@', '', 'https://'),
    'a path of steps up': fill('../', '', 'https://a.example/'),
    'escapes of percent': fill('%25', '', 'https://a.example/'),
    slashes: fill('/'),
    digits: fill('1'),
    hyphens: fill('-'),
    'pairs of surrogates': fill('\u{1f600}'),
    'half a pair at the end': fill('a', '\ud800'),
    'controls and overrides': fill('\u202e\u0000'),
    base64: fill('AAAA'),
    'base64 without an end': fill('A', '!'),
    'the beginning of a PEM': fill('-----BEGIN PUBLIC KEY-----'),
    'a PEM without an end': fill('A\n', '', '-----BEGIN PUBLIC KEY-----\n'),
    'a token of dots': fill('.', '', 'eyJhbGciOiJSUzI1NiJ9'),
    'a token of segments': fill('eyJhIjoxfQ.'),
    'a date that goes on': fill('0', '', '2000-01-01T00:00:00.'),
    'a UUID that goes on': fill('0', '', '00000000-0000-0000-0000-'),
    'a hash of parameters': fill('m=1,', '', '$argon2id$v=19$'),
    'JSON in JSON': fill('[', '', '{"a":'),
    quotes: fill('"'),
  };
}

/**
 * JSON texts of other hostile values. They are sent in the place of a value that a contract expects. Each has at most `bytes`
 * bytes.
 */
export function hostileJson(bytes: number): Record<string, string> {
  const times = (part: string, room = 0) => Math.floor((bytes - room) / part.length);
  const list = (part: string) => `[${part.repeat(times(part) - 2).replace(/,$/, '')}]`;
  const members = (value: string) => {
    const all: string[] = [];
    for (let size = 2, at = 0; ; at++) {
      const member = `"k${at}":${value}`;
      size += member.length + 1;
      if (size > bytes) return `{${all.join(',')}}`;
      all.push(member);
    }
  };
  const levels = Math.floor(bytes / 2) - 1;
  return {
    'a number of many digits': '1'.repeat(bytes),
    'a fraction of many digits': `0.${'1'.repeat(bytes - 2)}`,
    'lists in lists': `${'['.repeat(levels)}${']'.repeat(levels)}`,
    'objects in objects': `${'{"a":'.repeat(Math.floor(bytes / 6))}1${'}'.repeat(Math.floor(bytes / 6))}`,
    'ninety levels, then a list': `${'['.repeat(90)}${'0,'.repeat(Math.floor((bytes - 200) / 2))}0${']'.repeat(90)}`,
    'a list of numbers': list('0,'),
    'a list of empty lists': list('[],'),
    'a list of empty objects': list('{},'),
    'a list of texts': list('"a",'),
    'a list of nulls': list('null,'),
    'an object of numbers': members('0'),
    'an object of objects': members('{}'),
    'an object of lists': members('[[]]'),
    'one name again and again': `{${'"a":0,'.repeat(times('"a":0,', 10))}"a":0}`,
    'white space': `${' '.repeat(bytes - 1)}0`,
  };
}

/**
 * All hostile bodies for an operation. `right` is a valid body. `others` are the names of valid members that `right` does not
 * have. In some bodies, everything is hostile. Every remaining body is like `right`, with one difference: an additional unknown
 * hostile member, a hostile value in the place of one member, or one member of `others` with a hostile value.
 */
export function hostileBodies(
  right: Record<string, unknown>,
  others: readonly string[] = [],
  bytes = 256 * 1024,
): Map<string, string> {
  const bodies = new Map<string, string>();
  const room = bytes - roomForOthers;
  const json = hostileJson(room);
  const beside = JSON.stringify(right).slice(1, -1);
  for (const [name, text] of Object.entries(json)) {
    bodies.set(`body: ${name}`, text);
    bodies.set(`unknown member: ${name}`, `{${beside}${beside && ','}"unknown":${text}}`);
  }
  bodies.set('many unknown members', `{${beside}${beside && ','}${json['an object of numbers']?.slice(1)}`);
  const texts = Object.entries(hostileTexts(room)).map(
    ([name, text]) => [name, JSON.stringify(text)] as const,
  );
  for (const path of placesIn(right)) {
    for (const [name, text] of [...texts, ...Object.entries(json)]) {
      bodies.set(`${path.join('.')}: ${name}`, withValue(right, path, text));
    }
  }
  for (const name of others) {
    for (const [what, text] of [...texts, ...Object.entries(json)]) {
      bodies.set(`${name}: ${what}`, `{${beside}${beside && ','}${JSON.stringify(name)}:${text}}`);
    }
  }
  return bodies;
}

/** The paths of all members of an object. This includes the members of nested objects, and of the first element of each list. */
function placesIn(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? Object.entries(value).slice(0, 1) : Object.entries(value);
  return entries.flatMap(([name, member]) => [[...path, name], ...placesIn(member, [...path, name])]);
}

/** Replaces the member at `path` by the JSON text `text`. Returns the whole value as JSON. */
function withValue(value: unknown, path: readonly string[], text: string): string {
  const [name, ...rest] = path;
  if (name === undefined) return text;
  if (Array.isArray(value)) return `[${withValue(value[Number(name)], rest, text)}]`;
  const members = Object.entries(value as object).map(
    ([key, member]) =>
      `${JSON.stringify(key)}:${key === name ? withValue(member, rest, text) : JSON.stringify(member)}`,
  );
  return `{${members.join(',')}}`;
}
