import { expect, test } from 'vitest';
import { wantsProblem } from './accept.ts';

test.each([
  'application/problem+json',
  'Application/Problem+JSON',
  'application/problem+json; charset=utf-8',
  'application/json, application/problem+json',
  'application/problem+json, */*',
  'application/problem+json;q=0.5, application/json;q=0.4, */*',
  'application/problem+json;q=0.5, application/json;q=0.5',
  'text/html, application/problem+json;q=0.2',
  'application/problem+json;q=0.001,application/json;q=0',
])('with the Accept header %s, errors are sent as problems', (accept) =>
  expect(wantsProblem(accept)).toBe(true),
);

test.each([
  undefined,
  '',
  '*/*',
  'application/*',
  'application/json',
  'text/event-stream',
  'application/problem+xml',
  'application/problem+json;q=0',
  'application/problem+json;q=0.0, */*;q=0.1',
  'application/problem+json;q=0.9, application/json',
  'application/problem+json;q=0.5, */*',
  'application/problem+json;q=0.5, application/*;q=0.6, */*;q=0.1',
  'application/problem+json;q=much',
  'application/problem+json;q=2',
  'text/plain; note="application/problem+json"',
  'xapplication/problem+json',
])('with the Accept header %s, errors are sent in the plain envelope', (accept) =>
  expect(wantsProblem(accept)).toBe(false),
);
