import { z } from 'zod';
import type { Limit } from '../operation.ts';

export const nothing = z.object({});

/** A limit of `max` requests per 5 minutes, the window of every limit (spec#conventions-limits). */
export function perFiveMinutes(max: number): Limit {
  return { max, windowSeconds: 300 };
}
