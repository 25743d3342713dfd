import type { Command } from '../command.ts';
import { busConfig, busHelp, consumer, requireConsumer, withBus } from './dead-letters-shared.ts';

/** Publishes a consumer's dead letters again, and removes them from the list. */
export const replayDeadLettersCommand: Command = {
  name: 'dead-letters replay',
  summary: 'publish a consumer’s dead letters again',
  text: `Consumers that have already applied these events ignore them.\n${busHelp}`,
  reads: busConfig,
  options: {},
  words: [consumer],
  async run({ words: [name = ''] }, around) {
    const published = await withBus(around, (bus) => bus.replayDeadLetters(name));
    if (published === 0) await requireConsumer(name);
    return { value: { published }, text: `${published} published again\n` };
  },
};
