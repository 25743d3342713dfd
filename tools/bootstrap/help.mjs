// @ts-check
import { join } from 'node:path';
import { read } from './install.mjs';
import { root } from './run.mjs';
import { commandLine } from './sizes.mjs';

/**
 * Gives the help that the words after a script ask for, on any Node and with nothing installed; `undefined` if they ask for none,
 * or if `help.txt` has none for them. For words that name no command, it is the help of all commands.
 *
 * @param {string} script
 * @param {readonly string[]} words
 * @returns {{ text: string; isOfAll: boolean } | undefined}
 */
export function helpOf(script, words) {
  const isNamed = script === commandLine && words[0] === 'help';
  if (!isNamed && !words.includes('--help') && !words.includes('-h')) return undefined;
  const texts = readHelp(read(join(root, 'tools/bootstrap/help.txt')));
  const called = isNamed ? words.slice(1) : words;
  const end = called.findIndex((word) => word.startsWith('-'));
  const command = end < 0 ? called : called.slice(0, end);
  for (let count = command.length; count > 0; count--) {
    const text = texts.get([script, ...command.slice(0, count)].join(' '));
    if (text !== undefined) return { text, isOfAll: false };
  }
  const text = texts.get(script);
  return text === undefined ? undefined : { text, isOfAll: command.length > 0 };
}

/**
 * The texts of `help.txt`, by script, and for the command line by script and command.
 *
 * @param {string} content
 * @returns {Map<string, string>}
 */
function readHelp(content) {
  const [, ...parts] = content.split(/^=== (.+)\n/m);
  return new Map(parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? '']] : [])));
}
