import { expect, test } from 'vitest';
import { readTraceparent, traceFields, writeTraceparent } from './traceparent.ts';

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

test('readTraceparent reads what writeTraceparent writes', () => {
  const place = { traceId, spanId, flags: 1 };
  expect(writeTraceparent(place)).toBe(`00-${traceId}-${spanId}-01`);
  expect(readTraceparent(writeTraceparent(place))).toEqual(place);
  expect(readTraceparent(`00-${traceId}-${spanId}-00`)?.flags).toBe(0);
});

test('writeTraceparent drops all flags except the flag that says whether the trace is kept', () => {
  expect(writeTraceparent({ traceId, spanId, flags: 0xff })).toBe(`00-${traceId}-${spanId}-01`);
  expect(writeTraceparent({ traceId, spanId, flags: 0xfe })).toBe(`00-${traceId}-${spanId}-00`);
});

test.each([
  undefined,
  null,
  '',
  [`00-${traceId}-${spanId}-01`],
  `01-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}-01\n`,
])('does not accept %j as a traceparent', (text) => {
  expect(readTraceparent(text)).toBeUndefined();
  expect(traceFields(text)).toEqual({});
});

test('traceFields gives the fields of a log line the names that OpenTelemetry defines', () => {
  expect(traceFields(`00-${traceId}-${spanId}-00`)).toEqual({ trace_id: traceId, span_id: spanId });
});
