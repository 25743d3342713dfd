// @ts-check
import { join } from 'node:path';
import { read } from './install.mjs';
import { root } from './run.mjs';
import { commandLine } from './sizes.mjs';

/**
 * Returns the help that the words after a script ask for. This works on any Node, with nothing installed. If the words name no
 * command, returns the help of all commands. Returns `undefined` if the words ask for no help, or if `help.txt` has no help for
 * them.
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
 * The texts of `help.txt`, by script. A text of the command line has the script and the command as its key.
 *
 * @param {string} content
 * @returns {Map<string, string>}
 */
function readHelp(content) {
  const [, ...parts] = content.split(/^=== (.+)\n/m);
  return new Map(parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? '']] : [])));
}
