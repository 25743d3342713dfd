import { type Given, textOf } from '../command.ts';

export const yesOrNoChoices = ['yes', 'no'];

/** Gives an option that is yes or no as a field of a request; no field if the option is not given. */
export function yesOrNo(given: Given, option: string, field: string): Record<string, boolean> {
  const value = textOf(given, option);
  return value === undefined ? {} : { [field]: value === 'yes' };
}
