import type { Command } from '../command.ts';
import { busConfig, busHelp, consumer, requireConsumer, withBus } from './dead-letters-shared.ts';

/** Lists the events that a consumer has given up. */
export const listDeadLettersCommand: Command = {
  name: 'dead-letters list',
  summary: 'list a consumer’s dead letters: the events that it has given up',
  text: `Prints one JSON object per line.\n${busHelp}`,
  reads: busConfig,
  options: {},
  words: [consumer],
  async run({ words: [name = ''] }, around) {
    const letters = await withBus(around, (bus) => bus.deadLetters(name));
    if (letters.length === 0) await requireConsumer(name);
    const value = letters.map(({ subject, error, body }) => ({
      ...{ subject, error },
      event: eventOf(new TextDecoder().decode(body)),
    }));
    return { value, text: value.map((one) => `${JSON.stringify(one)}\n`).join('') };
  },
};

/**
 * Returns the event in a text, or the text itself if it is not JSON. Another program can have published something that is not
 * JSON.
 */
function eventOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
