import { type Given, textOf } from '../command.ts';

export const yesOrNoChoices = ['yes', 'no'];

/** Turns a yes-or-no option into a field of a request, or into no field if the option is not given. */
export function yesOrNo(given: Given, option: string, field: string): Record<string, boolean> {
  const value = textOf(given, option);
  return value === undefined ? {} : { [field]: value === 'yes' };
}
