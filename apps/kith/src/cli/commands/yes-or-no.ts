import { type Given, textOf } from '../command.ts';

export const yesOrNoChoices = ['yes', 'no'];

/** Reads an option that is yes or no as a field of a request; nothing where it is not given. */
export function yesOrNo(given: Given, option: string, field: string): Record<string, boolean> {
  const value = textOf(given, option);
  return value === undefined ? {} : { [field]: value === 'yes' };
}
