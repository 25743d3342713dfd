import { checkedMessage } from '@kith/bus';
import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { decodeContext, encodeContext, type RequestContext } from './context.ts';

const text = fc.string({ unit: 'binary' });
const token = fc.stringMatching(/^[A-Za-z0-9._-]{1,40}$/);
const context: fc.Arbitrary<RequestContext> = fc.record({
  requestId: token,
  projectId: fc.option(fc.uuid()),
  caller: fc.option(fc.record({ userId: fc.uuid(), sessionId: fc.uuid(), role: text })),
  clientIp: fc.oneof(fc.ipV4(), fc.ipV6()),
  userAgent: text,
  wireVersion: fc.constantFrom('v6' as const, 'v7' as const),
  form: fc.constantFrom('', '/v6', '/v7', '/api/v6', '/api/v7'),
  deadline: fc.integer({ min: 0, max: 8_640_000_000_000_000 }),
  params: fc.dictionary(token, text).map((params) => ({ ...params })),
  query: fc.webQueryParameters(),
  traceparent: fc.option(fc.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)),
});

beforeEach(() => void vi.useFakeTimers());

test('a context arrives unchanged over any bus', () => {
  fc.assert(
    fc.property(context, (given) => {
      const carried = checkedMessage({ headers: encodeContext(given), body: new Uint8Array() });
      expect(decodeContext(carried.headers)).toEqual(given);
    }),
  );
});

test('text of a client cannot add a header line', () => {
  const sly: RequestContext = {
    requestId: 'r',
    projectId: null,
    caller: { userId: 'u', sessionId: 's', role: 'x\r\nKith-Context: {}' },
    clientIp: '192.0.2.1',
    userAgent: 'agent\r\nKith-Context: {}\ud800',
    wireVersion: 'v6',
    form: '',
    deadline: 1,
    params: { name: 'a\r\nb&c=d' },
    query: '',
    traceparent: null,
  };
  for (const value of Object.values(encodeContext(sly))) expect(value).not.toMatch(/[\r\n]/);
  expect(decodeContext(encodeContext(sly))).toEqual({ ...sly, userAgent: 'agent\r\nKith-Context: {}\ufffd' });
});

test('without headers, the context has no caller and no deadline', () => {
  expect(decodeContext({})).toEqual({
    requestId: '',
    projectId: null,
    caller: null,
    clientIp: '',
    userAgent: '',
    wireVersion: 'v6',
    form: '',
    deadline: Number.NaN,
    params: {},
    query: '',
    traceparent: null,
  });
});

test.each([-600_000, -6_000, 6_000, 600_000])(
  'a receiver whose clock is %d ms ahead has as much time left as the sender',
  (ahead) => {
    const headers = encodeContext({ deadline: Date.now() + 5_000 });
    vi.setSystemTime(Date.now() + ahead);
    expect(decodeContext(headers).deadline).toBe(Date.now() + 5_000);
  },
);
