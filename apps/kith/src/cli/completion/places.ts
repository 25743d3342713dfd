import { type Command, isPath } from '../command.ts';
import { optionsOf } from '../read-words.ts';

/** A place on the command line: after `kith`, after a group or after a command. */
export interface Place {
  /** The words of the group or command, for example `projects create`; '' after `kith` itself. */
  path: string;
  /** Whether the words name a group. After a group, the name of a command has to follow. */
  isGroup: boolean;
  /** The words that can follow, each with a description. */
  words: readonly Offer[];
  /** Whether the word at this place can be a file or folder. */
  takesFile: boolean;
  options: readonly OptionOffer[];
}

export interface Offer {
  name: string;
  text: string;
}

export interface OptionOffer extends Offer {
  /** What follows the option: nothing, one of the choices, a file, or a text that cannot be completed. */
  value: 'none' | 'file' | 'text' | readonly string[];
}

/** All places where something can be completed. */
export function placesOf(commands: readonly Command[]): Place[] {
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
  const groups = firsts.filter((first) => commands.some(({ name }) => name.startsWith(`${first} `)));
  const offer = (first: string) =>
    commands.find(({ name }) => name === first)?.summary ?? `commands of ${first}`;
  return [
    groupAt(
      '',
      firsts.map((name) => ({ name, text: offer(name) })),
    ),
    ...groups.map((group) => groupAt(group, offersIn(group, commands))),
    ...commands.map(placeOf),
  ];
}

function groupAt(path: string, words: readonly Offer[]): Place {
  const options = [{ name: '--help', text: 'print help', value: 'none' as const }];
  return { path, isGroup: true, words, takesFile: false, options };
}

function offersIn(group: string, commands: readonly Command[]): Offer[] {
  return commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name, summary }) => ({ name: name.slice(group.length + 1), text: summary }));
}

function placeOf(command: Command): Place {
  const [word] = command.words ?? [];
  return {
    path: command.name,
    isGroup: false,
    words: (word?.choices ?? []).map((name) => ({ name, text: word?.what ?? '' })),
    takesFile: isPath(word),
    options: Object.entries(optionsOf(command)).map(([name, option]) => ({
      ...{ name: `--${name}`, text: option.text },
      value: option.choices ?? (isPath(option) ? 'file' : option.value ? 'text' : 'none'),
    })),
  };
}
