// Writes services/identity/src/common-passwords.ts from the 10,000 most used passwords. Leaves out passwords of fewer than 8
// characters, because they are refused anyway. With `--check`, it writes nothing, and fails if the result would differ.
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dictionary } from '@zxcvbn-ts/language-common';

const most = 10_000;
const shortest = 8;
/**
 * How many characters of a hash are kept. These characters hold 36 bits. With so few bits, one uncommon password in 19 million is
 * mistaken for a common password.
 */
const hashCharacters = 6;
const file = 'services/identity/src/common-passwords.ts';

const ranked = dictionary['passwords-common'] as readonly string[];
const plain = ranked.slice(0, most).map((password) => password.normalize('NFKC').toLowerCase().trim());
const long = plain.filter((password) => [...password].length >= shortest);
const hashes = new Set(long.map((one) => hash('sha256', one, 'base64url').slice(0, hashCharacters)));
const text = `// Written by tools/common-passwords.ts: do not edit.

/**
 * The ${hashes.size.toLocaleString('en')} passwords of 8 characters or more among the ${most.toLocaleString('en')} most used ones, each as the first ${hashCharacters} characters of its SHA-256 in
 * base64url, sorted and without anything between them. From @zxcvbn-ts/language-common (MIT licence; copyright 2012-2016 Dan
 * Wheeler and Dropbox, Inc., 2021 @zxcvbn-ts), whose list has the most used first.
 */
export const commonPasswords =
  '${[...hashes].sort().join('')}';
`;

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error(`${file} differs from its source. Run npm run generate.`);
  process.exit(1);
}
