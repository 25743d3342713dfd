import type { Command } from '../command.ts';
import { busConfig, busHelp, withBus } from './dead-letters-shared.ts';

/** Publishes the events that a consumer has given up once more, and forgets them. */
export const replayDeadLettersCommand: Command = {
  name: 'dead-letters replay',
  summary: 'publish the events that a consumer has given up once more',
  help: `kith dead-letters replay DURABLE\n\nConsumers that had them change nothing. ${busHelp}`,
  reads: busConfig,
  options: {},
  words: ['durable'],
  async run({ words }, around) {
    const count = await withBus(around, (bus) => bus.replayDeadLetters(words[0] ?? ''));
    around.stdout.write(`${count} published again\n`);
    return 0;
  },
};
