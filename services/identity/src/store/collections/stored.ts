import { z } from 'zod';

/** The stored form of a record: without the fields that its id contains, and with times in Unix ms. */
export type AsStored<T, Ids extends keyof T> = {
  [Field in Exclude<keyof T, Ids>]: T[Field] extends Date
    ? number
    : T[Field] extends Date | null
      ? number | null
      : T[Field];
};

export const time = z.int();
export const text = z.string();
