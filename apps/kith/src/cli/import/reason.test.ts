import { expect, test } from 'vitest';
import { z } from 'zod';
import { readRow } from './read-row.ts';

const shape = {
  foreignId: z.string().min(1),
  passwordHash: z.string().optional(),
  createdAt: z.iso.datetime({ error: 'must be an ISO 8601 time.' }),
  reputation: z.number().optional(),
  place: z.object({ city: z.string() }).optional(),
};
const needsName = (row: { passwordHash?: string | undefined }) => row.passwordHash !== undefined;
const strict = z.strictObject(shape);
const right = { foreignId: '1', createdAt: '2020-01-02T03:04:05Z' };

const reasonOf = (value: unknown, schema: z.ZodObject = strict) => {
  const read = readRow(Buffer.from(JSON.stringify(value)), schema);
  return read && 'reason' in read ? read.reason : undefined;
};

test('a missing field is reported as required, and a wrong value as wrong', () => {
  expect(reasonOf({ foreignId: '1' })).toBe('createdAt is required.');
  expect(reasonOf({ ...right, place: {} })).toBe('place.city is required.');
  expect(reasonOf({ ...right, createdAt: 'soon' })).toBe('createdAt must be an ISO 8601 time.');
  expect(reasonOf({ ...right, reputation: '7' })).toBe('reputation must be a number.');
  expect(reasonOf(right)).toBeUndefined();
});

test('the reason repeats the contract’s own message about a choice of two fields', () => {
  const either = strict.refine(needsName, {
    path: ['passwordHash'],
    error: 'Give passwordHash or key.',
  });
  expect(reasonOf(right, either)).toBe('Give passwordHash or key.');
});

test('a line that is not an object is reported as such', () => {
  for (const value of [[1, 2], 7, null, 'x'])
    expect(reasonOf(value)).toBe('Each line must be a JSON object.');
});

test('the reason names an unknown field and the field that was probably meant, with every kind of schema', () => {
  const caught = z.object(shape).catchall(z.never());
  for (const schema of [strict, caught]) {
    const told = (field: string) => reasonOf({ ...right, [field]: 'a secret' }, schema);
    expect(told('password_hash')).toBe('password_hash is not a field of a row; it may be passwordHash.');
    expect(told('PasswordHash')).toBe('PasswordHash is not a field of a row; it may be passwordHash.');
    expect(told('passwordHsh')).toBe('passwordHsh is not a field of a row; it may be passwordHash.');
    expect(told('plan')).toBe('plan is not a field of a row.');
    // The required field is missing only because the line gives it another name.
    expect(reasonOf({ foreignId: '1', created_at: '' }, schema)).toBe(
      'created_at is not a field of a row; it may be createdAt.',
    );
    const many = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`\u001b${index}${'x'.repeat(99)}`, 1]),
    );
    const reason = reasonOf({ ...right, ...many }, schema);
    expect(reason).toMatch(/^ 0x{62} is not a field of a row\. .* Other unknown fields: 2\.$/);
  }
});
