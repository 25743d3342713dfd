import type { z } from 'zod';
import { nearest } from '../near.ts';

type Issue = z.core.$ZodIssue;

/** Names that are no fields can be anything: only so many are told, and none longer. */
const mostNames = 3;
const longestName = 64;

/** Why a line is no row, in a sentence for whoever mends it. It names fields, and quotes no values. */
export function reasonOf(value: unknown, { issues }: z.ZodError, schema: z.ZodObject): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'Each line must be a JSON object.';
  // First: a field that is missing is often there under another name.
  const unknown = issues.flatMap((issue) => unknownIn(issue, schema));
  if (unknown.length > 0) return unknownFields(unknown, schema);
  const [issue] = issues;
  if (!issue) return 'It is not a valid row.';
  const field = issue.path.join('.');
  const sentence = sentenceOf(value, issue);
  return field ? `${field}: ${sentence}` : sentence;
}

function sentenceOf(value: object, issue: Issue): string {
  // What the contract itself says of what is missing (one of two fields, say) is as clear as can be.
  if (issue.code !== 'custom' && valueAt(value, issue.path) === undefined) return 'It is missing.';
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input'))
    return `It must be ${/^[aeio]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}.`;
  return issue.message;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const name of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[name];
  return at;
}

/** The names that an issue says are no fields, however the schema refuses them. */
function unknownIn(issue: Issue, { shape }: z.ZodObject): string[] {
  const [field] = issue.path;
  if (issue.code === 'unrecognized_keys') return issue.path.length === 0 ? issue.keys : [];
  return typeof field === 'string' && !Object.hasOwn(shape, field) ? [field] : [];
}

function unknownFields(names: readonly string[], { shape }: z.ZodObject): string {
  const told = names.slice(0, mostNames).map((name) => {
    const near = nearest(name, Object.keys(shape));
    return `${shown(name)}: There is no such field${near ? `; it may be ${near}` : ''}.`;
  });
  const others = names.length - told.length;
  return `${told.join(' ')}${others > 0 ? ` Other unknown fields: ${others}.` : ''}`;
}

function shown(name: string): string {
  return name.replaceAll(/\p{C}/gu, ' ').slice(0, longestName);
}
