import { describe, expect, it } from 'vitest';
import { CannotOpen, Secrets } from './secrets.ts';

const [first, second, third] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string];

describe('what is sealed', () => {
  const secrets = new Secrets(first);
  const sealed = secrets.seal('test', 'what is kept', 'user-1');

  it('opens for the same purpose, bound to the same', () => {
    expect(secrets.open('test', sealed, 'user-1').toString()).toBe('what is kept');
    const bytes = Buffer.from([0, 255, 128]);
    expect(secrets.open('test', secrets.seal('test', bytes))).toEqual(bytes);
  });

  it('shows nothing, and never looks the same twice', () => {
    expect(sealed).not.toContain('what is kept');
    expect(secrets.seal('test', 'what is kept', 'user-1')).not.toBe(sealed);
  });

  it.each([
    ['another purpose', () => secrets.open('other', sealed, 'user-1')],
    ['another it is bound to', () => secrets.open('test', sealed, 'user-2')],
    ['nothing it is bound to', () => secrets.open('test', sealed)],
    ['another secret', () => new Secrets(second).open('test', sealed, 'user-1')],
    ['a changed byte', () => secrets.open('test', changed(sealed), 'user-1')],
    ['a part of it', () => secrets.open('test', sealed.slice(0, 20), 'user-1')],
    ['no sealed text', () => secrets.open('test', 'what is kept', 'user-1')],
  ])('does not open with %s', (_, open) => {
    expect(open).toThrow(CannotOpen);
  });

  it('opens after a change of the secret, and says that it is older', () => {
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
  it('is one for each purpose, text and secret', () => {
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
  it('holds between processes that have a secret in common, whichever is current', () => {
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

  it('is one for each text and purpose', () => {
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
