import { expect, test } from 'vitest';
import { eventText, readEventText } from './event-text.ts';

const event = {
  id: 'event-1',
  type: 'thing.made',
  version: 1,
  projectId: 'project-1',
  occurredAt: '2026-01-01T00:00:00.000Z',
  actorId: null,
  aggregate: { type: 'thing', id: 'thing-1', seq: 1 },
  data: {},
};

test('without tracing, an event is stored unchanged', () => {
  expect(eventText(event)).toBe(JSON.stringify(event));
  expect(readEventText(eventText(event))).toEqual({ event });
});

test('any process can read an event that a traced process has stored, and the event itself is unchanged', () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(readEventText(JSON.stringify({ ...event, traceparent }))).toEqual({ event, traceparent });
});
