import type { Fault } from '@kith/contracts';
import type { z } from 'zod';
import { nearest } from '../near.ts';

/**
 * A reason quotes the unknown fields of a row. Their names can be any text. So a reason quotes at most `mostNames` of them, and
 * cuts each name to `longestName` characters.
 */
const mostNames = 3;
const longestName = 64;

/**
 * Why a line is not a valid row, in a sentence for the person who corrects the line. The sentence names fields, and quotes no
 * values.
 */
export function reasonOf(value: unknown, faults: readonly Fault[], schema: z.ZodObject): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'Each line must be a JSON object.';
  // Unknown fields come first, because a missing field is often there under a wrong name.
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(schema.shape, name));
  if (unknown.length > 0) return unknownFields(unknown, schema);
  return faults[0]?.error ?? 'It is not a valid row.';
}

function unknownFields(names: readonly string[], { shape }: z.ZodObject): string {
  const told = names.slice(0, mostNames).map((name) => {
    const near = nearest(name, Object.keys(shape));
    return `${shown(name)} is not a field of a row${near ? `; it may be ${near}` : ''}.`;
  });
  const others = names.length - told.length;
  return `${told.join(' ')}${others > 0 ? ` Other unknown fields: ${others}.` : ''}`;
}

function shown(name: string): string {
  return name.replaceAll(/\p{C}/gu, ' ').slice(0, longestName);
}
