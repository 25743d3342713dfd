import { describe, expect, it } from 'vitest';
import { CannotOpen, Secrets } from './secrets.ts';

const [first, second, third] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string];

describe('a sealed text', () => {
  const secrets = new Secrets(first);
  const sealed = secrets.seal('test', 'what is kept', 'user-1');

  it('opens for the same purpose and with the same binding', () => {
    expect(secrets.open('test', sealed, 'user-1').toString()).toBe('what is kept');
    const bytes = Buffer.from([0, 255, 128]);
    expect(secrets.open('test', secrets.seal('test', bytes))).toEqual(bytes);
  });

  it('does not show the plain text, and is different each time', () => {
    expect(sealed).not.toContain('what is kept');
    expect(secrets.seal('test', 'what is kept', 'user-1')).not.toBe(sealed);
  });

  it.each([
    ['another purpose', () => secrets.open('other', sealed, 'user-1')],
    ['another binding', () => secrets.open('test', sealed, 'user-2')],
    ['no binding', () => secrets.open('test', sealed)],
    ['another secret', () => new Secrets(second).open('test', sealed, 'user-1')],
    ['a changed byte', () => secrets.open('test', changed(sealed), 'user-1')],
    ['a part of the text', () => secrets.open('test', sealed.slice(0, 20), 'user-1')],
    ['a text that was never sealed', () => secrets.open('test', 'what is kept', 'user-1')],
  ])('does not open in case of %s', (_, open) => {
    expect(open).toThrow(CannotOpen);
  });

  it('opens after a change of the secret, but then isCurrent returns false for it', () => {
    const changing = new Secrets(second, [third, first]);
    expect(changing.open('test', sealed, 'user-1').toString()).toBe('what is kept');
    expect([changing.isCurrent(sealed), secrets.isCurrent(sealed)]).toEqual([false, true]);
    const anew = changing.seal('test', changing.open('test', sealed, 'user-1'), 'user-1');
    expect(changing.isCurrent(anew)).toBe(true);
    expect(new Secrets(second).open('test', anew, 'user-1').toString()).toBe('what is kept');
    expect(() => secrets.open('test', anew, 'user-1')).toThrow(CannotOpen);
  });
});

describe('a keyed hash', () => {
  it('differs for each purpose, text and secret', () => {
    const hashes = [
      new Secrets(first).hash('attempts', 'ana@example.com'),
      new Secrets(first).hash('attempts', 'ben@example.com'),
      new Secrets(first).hash('audit', 'ana@example.com'),
      new Secrets(second).hash('attempts', 'ana@example.com'),
    ];
    expect(new Set(hashes).size).toBe(4);
    for (const hash of hashes) expect(hash).toMatch(/^[\w-]{43}$/);
    expect(new Secrets(first).hash('attempts', 'ana@example.com')).toBe(hashes[0]);
  });
});

describe('a signature', () => {
  it('is valid for another process if one current or previous secret is the same in both processes', () => {
    const [before, during, after] = [
      new Secrets(first),
      new Secrets(second, [first]),
      new Secrets(second),
    ] as const;
    const verified = (by: Secrets, of: Secrets) => by.verifies('test', 'text', of.sign('test', 'text'));
    expect([verified(before, during), verified(during, before)]).toEqual([true, true]);
    expect([verified(after, during), verified(during, after)]).toEqual([true, true]);
    expect([verified(before, after), verified(after, before)]).toEqual([false, false]);
  });

  it('is valid only for its text and purpose', () => {
    const secrets = new Secrets(first);
    const signature = secrets.sign('test', 'text');
    expect(secrets.verifies('test', 'texts', signature)).toBe(false);
    expect(secrets.verifies('other', 'text', signature)).toBe(false);
    expect(secrets.verifies('test', 'text', '')).toBe(false);
  });
});

function changed(sealed: string): string {
  const at = sealed.length - 3;
  return `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
}
