import type { Command } from '../command.ts';
import { busConfig, busHelp, withBus } from './dead-letters-shared.ts';

/** Lists the events that a consumer has given up, one JSON object a line. */
export const listDeadLettersCommand: Command = {
  name: 'dead-letters list',
  summary: 'list a consumer’s dead letters: the events that it has given up',
  help: `kith dead-letters list CONSUMER\n\n${busHelp}`,
  reads: busConfig,
  options: { json: { type: 'boolean' } },
  words: ['consumer, for example connections-profiles'],
  async run({ words }, around) {
    const letters = await withBus(around, (bus) => bus.deadLetters(words[0] ?? ''));
    for (const { subject, error, body } of letters) {
      const event = JSON.parse(new TextDecoder().decode(body));
      around.stdout.write(`${JSON.stringify({ subject, error, event })}\n`);
    }
    return 0;
  },
};
