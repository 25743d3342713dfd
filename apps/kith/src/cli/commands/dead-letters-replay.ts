import type { Command } from '../command.ts';
import { busConfig, busHelp, withBus } from './dead-letters-shared.ts';

/** Publishes a consumer's dead letters again, and forgets them. */
export const replayDeadLettersCommand: Command = {
  name: 'dead-letters replay',
  summary: 'publish a consumer’s dead letters again',
  help: `kith dead-letters replay CONSUMER\n\nConsumers that have applied them already ignore them.\n${busHelp}`,
  reads: busConfig,
  options: {},
  words: ['consumer, for example connections-profiles'],
  async run({ words }, around) {
    const count = await withBus(around, (bus) => bus.replayDeadLetters(words[0] ?? ''));
    around.stdout.write(`${count} published again\n`);
    return 0;
  },
};
