import type { Option } from '../command.ts';

/** The option that skips the events of consumers that were retired (`untilQuiet`). */
export const withoutConsumer: Option = {
  value: 'CONSUMER',
  multiple: true,
  text: 'skip events that wait for this consumer, if no service of this version has such a consumer',
};
