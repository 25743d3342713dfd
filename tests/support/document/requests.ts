import fc, { type Arbitrary } from 'fast-check';
import { smallPng } from '../multipart.ts';
import type { Described, Parameter, Place } from './described.ts';
import { allowedBy, forbiddenBy } from './values.ts';

/** Who asks: the owner of the things or an operator (`known`), somebody without a token (`nobody`), or with an invalid one (`unknown`). */
export type Asker = 'known' | 'nobody' | 'unknown';

/** A request made from the description of an operation. */
export interface Made {
  described: Described;
  /** The place where it violates the document; `undefined` if it follows the document. */
  wrong: Place | 'body' | undefined;
  /** Values by place and name. If `names` is `known`, existing things are filled in when it is sent. */
  values: Readonly<Record<Place, Readonly<Record<string, unknown>>>>;
  body: unknown;
  /** Whether fields of the body and of the path name existing things, as far as things of these names are known. */
  names: 'known' | 'made';
  asker: Asker;
  /** Chooses among the things that are known. */
  choice: number;
}

/** Files, which are not generated from a schema: some bytes of each kind. */
const files = fc.constantFrom<Uint8Array>(
  smallPng,
  Buffer.from('notes'),
  new Uint8Array(),
  smallPng.subarray(0, 60),
);

/** Requests that an operation allows, and, one in three, requests with one thing that it forbids. */
export function requestsOf(described: Described): Arbitrary<Made> {
  const { parameters, body, security } = described;
  const places = new Set<Place | 'body'>(parameters.filter(canBeWrong).map((one) => one.in));
  if (body && body.type === 'application/json') places.add('body');
  const wrongs = [...places];
  const asker: Arbitrary<Asker> = security.every((one) => one === 'none')
    ? fc.constant('nobody')
    : fc.oneof(
        { weight: 8, arbitrary: fc.constant('known' as const) },
        { weight: 1, arbitrary: fc.constant('nobody' as const) },
        { weight: 1, arbitrary: fc.constant('unknown' as const) },
      );
  return fc
    .oneof(
      { weight: 2 * Math.max(1, wrongs.length), arbitrary: fc.constant(undefined) },
      ...wrongs.map((arbitrary) => ({ weight: 1, arbitrary: fc.constant(arbitrary) })),
    )
    .chain((wrong) =>
      fc.record({
        described: fc.constant(described),
        wrong: fc.constant(wrong),
        values: fc.record({
          path: valuesIn('path', described, wrong),
          query: valuesIn('query', described, wrong),
          header: valuesIn('header', described, wrong),
          cookie: fc.constant({}),
        }),
        body: body ? bodyOf(described, wrong === 'body') : fc.constant(undefined),
        names: fc.constantFrom('known' as const, 'known' as const, 'made' as const),
        asker,
        choice: fc.nat(),
      }),
    );
}

/** Whether a parameter can have a wrong value, although all values are sent as text. */
function canBeWrong({ schema, in: place, name }: Parameter): boolean {
  // A server has to ignore values of these headers that it does not understand (RFC 9110 sections 13.1 and 14.2).
  if (['Range', 'If-None-Match', 'Last-Event-ID'].includes(name)) return false;
  if (place === 'path') return schema.format === 'uuid' || schema.pattern !== undefined;
  return true;
}

function valuesIn(place: Place, { parameters }: Described, wrong: Place | 'body' | undefined) {
  const all = parameters.filter((one) => one.in === place);
  const good = Object.fromEntries(
    all.map((one) => [one.name, allowedBy(one.schema).filter((value) => isSendable(one, value))]),
  );
  const record = fc.record(good, { requiredKeys: all.filter((one) => one.required).map(({ name }) => name) });
  const able = all.filter(canBeWrong);
  if (wrong !== place || able.length === 0) return record;
  return fc.constantFrom(...able).chain((one) => {
    const bad = forbiddenBy(one.schema)
      .filter((value) => isSendable(one, value) && isWrongAsText(one, value))
      .map((value) => ({ [one.name]: value }));
    return fc.tuple(record, bad).map(([values, broken]) => ({ ...values, ...broken }));
  });
}

/** Whether a value of a parameter can be written as text. */
function isSendable({ in: place }: Parameter, value: unknown): boolean {
  if (value === null || typeof value === 'object') return false;
  const text = String(value);
  if (place === 'header') return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  // An empty segment gives another path, and `.` and `..` are steps in it.
  return place !== 'path' || !['', '.', '..'].includes(text);
}

/** Whether a value is still wrong when sent as text: a number is not wrong for a text. */
function isWrongAsText({ schema }: Parameter, value: unknown): boolean {
  return schema.type !== 'string' || typeof value === 'string';
}

function bodyOf({ body }: Described, isWrong: boolean): Arbitrary<unknown> {
  const { schema, type } = body!;
  if (type === 'application/json') return isWrong ? forbiddenBy(schema) : allowedBy(schema);
  const { properties, required = [] } = schema as {
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  const { file: _, ...others } = properties;
  const fields = Object.entries(others).map(([name, one]): [string, Arbitrary<unknown>] => [
    name,
    // Only its description says what its JSON looks like.
    name === 'sizes'
      ? fc
          .dictionary(fc.stringMatching(/^[a-z0-9-]{1,32}$/), fc.integer({ min: 1, max: 4096 }), {
            maxKeys: 5,
          })
          .map((sizes) => JSON.stringify(sizes))
      : allowedBy(one),
  ]);
  // In the order of the document.
  return fc.record({ ...Object.fromEntries(fields), file: files }, { requiredKeys: required as never[] });
}
