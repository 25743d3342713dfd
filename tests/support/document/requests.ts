import { operations } from '@kith/contracts';
import fc, { type Arbitrary } from 'fast-check';
import { smallPng } from '../multipart.ts';
import type { Described, Parameter, Place } from './described.ts';
import { allowedBy, forbiddenBy } from './values.ts';

/**
 * Who asks. `known` is the owner of the things, the application's own back end, or an operator. `nobody` is a caller without a
 * token. `unknown` is a caller with an invalid token.
 */
export type Asker = 'known' | 'nobody' | 'unknown';

/** A request made from the description of an operation. */
export interface Made {
  described: Described;
  /** The place where the request violates the document; `undefined` if the request follows the document. */
  wrong: Place | 'body' | undefined;
  /** Values by place and name. If `names` is `known`, existing things replace made-up values when the request is sent. */
  values: Readonly<Record<Place, Readonly<Record<string, unknown>>>>;
  body: unknown;
  /**
   * Whether fields of the path and the body name existing things (`known`) or made-up things (`made`). If no thing is known for a
   * field, its value stays made up.
   */
  names: 'known' | 'made';
  asker: Asker;
  /** The security scheme of a known caller; `none` if the operation takes no token. */
  scheme: string;
  /** A number that chooses among the known things. */
  choice: number;
}

/** Files: some bytes of each kind. They are not generated from a schema. */
const files = fc.constantFrom<Uint8Array>(
  smallPng,
  Buffer.from('notes'),
  new Uint8Array(),
  smallPng.subarray(0, 60),
);

/** Generates requests for an operation. One third of the requests break one rule of the operation. The other requests break none. */
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
        scheme: fc.constantFrom(...schemesOf(described, wrong)),
        choice: fc.nat(),
      }),
    );
}

/** Operations that ignore some fields of a body, unless a server key sends them. */
const withFieldsOfKeys = new Set<string>(operations.flatMap((one) => (one.serverKeyBody ? one.name : [])));

function schemesOf({ id, security }: Described, wrong: Made['wrong']): string[] {
  if (wrong === 'body' && withFieldsOfKeys.has(id)) return ['serverKey'];
  const schemes = security.filter((one) => one !== 'none');
  return schemes.length > 0 ? schemes : ['none'];
}

/**
 * The header that says for whom a server key acts. Only the function `written` adds it, and only to requests of server keys.
 */
export const onBehalfOf = 'On-Behalf-Of';

/** Whether a parameter can have a wrong value, although every value is sent as text. */
function canBeWrong({ schema, in: place, name }: Parameter): boolean {
  if (name === onBehalfOf) return false;
  // If a server does not understand a value of these headers, it has to ignore the value (RFC 9110 sections 13.1 and 14.2).
  if (name.startsWith('If-') || ['Range', 'Last-Event-ID'].includes(name)) return false;
  if (place === 'path') return schema.format === 'uuid' || schema.pattern !== undefined;
  return true;
}

function valuesIn(place: Place, { parameters }: Described, wrong: Place | 'body' | undefined) {
  const all = parameters.filter((one) => one.in === place && one.name !== onBehalfOf);
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
  // With an empty value, the path would be another path. The values `.` and `..` would be resolved as steps of the path.
  return place !== 'path' || !['', '.', '..'].includes(text);
}

/**
 * Whether a value is still wrong after it is sent as text. For example, a number is not wrong if the parameter accepts any
 * text.
 */
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
    // Only the description of `sizes` says what its JSON looks like.
    name === 'sizes'
      ? fc
          .dictionary(fc.stringMatching(/^[a-z0-9-]{1,32}$/), fc.integer({ min: 1, max: 4096 }), {
            maxKeys: 5,
          })
          .map((sizes) => JSON.stringify(sizes))
      : allowedBy(one),
  ]);
  // The fields are sent in the order in which the document lists them.
  return fc.record({ ...Object.fromEntries(fields), file: files }, { requiredKeys: required as never[] });
}
