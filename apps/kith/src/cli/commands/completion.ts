import { z } from 'zod';
import type { Command } from '../command.ts';
import { fishScript } from '../completion/fish.ts';
import { placesOf } from '../completion/places.ts';
import { bashScript, zshScript } from '../completion/posix.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

/** Prints a script that completes commands, options and their values in a shell. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'print a script that completes commands and options in a shell',
  text: `SHELL is one of ${Object.keys(scripts).join(', ')}. The script completes the command \`kith\`. To have this
command in any folder, link apps/kith/bin/kith.mjs of the clone into a folder of your PATH, with the name kith.

  bash  source <(kith completion bash)
  zsh   source <(kith completion zsh)
  fish  kith completion fish | source`,
  reads: z.object({}),
  options: {},
  words: [{ value: 'SHELL', what: 'shell', choices: Object.keys(scripts) }],
  async run({ words }, { commands }) {
    const shell = words[0] as Shell;
    const script = scripts[shell](placesOf(commands));
    return { value: { shell, script }, text: script };
  },
};
