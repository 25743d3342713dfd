import { expect, test } from 'vitest';
import { fold } from './fold.ts';

test.each([
  ['Straße', 'STRASSE'],
  ['İstanbul', 'istanbul'],
  ['ISPARTA', 'ısparta'],
  ['Café', 'Cafe\u0301'],
  ['José', 'jose'],
  ['ΟΔΥΣΣΕΥΣ', 'Οδυσσεύς'],
  ['Фёдор', 'ФЕДОР'],
  ['ﬁn', 'FIN'],
  ['Ｋａｎａ', 'kana'],
  ['ᾳ', 'Α'],
  [' Ada ', 'ADA'],
])('%s and %s fold to the same text', (one, other) => {
  expect(fold(one)).toBe(fold(other));
});

test.each(['İ', 'ß', 'ΣΑΣ', 'Ǆ', 'ŉ', 'ﬃ', 'Ꭰ', 'ა', '𐐀', '日本', 'हिन्दी', '🦊'])(
  'folding %s a second time changes nothing',
  (text) => {
    expect(fold(fold(text))).toBe(fold(text));
    expect(fold(text)).not.toBe('');
  },
);

test('different letters stay different', () => {
  expect(fold('Ада')).not.toBe(fold('Ада́м'));
  expect(fold('कि')).not.toBe(fold('का'));
});
