import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { ensureStreams } from './nats-streams.ts';

const answer = (err_code: number, description: string) =>
  new JetStreamApiError({ code: 503, err_code, description });
const failing = (info: Error, add: Error) =>
  ({
    streams: { info: () => Promise.reject(info), add: () => Promise.reject(add) },
  }) as unknown as JetStreamManager;
const missing = answer(10_059, 'stream not found');

// The second answer comes only from a cluster that is just electing a leader.
test.each([
  ['too few servers', 'no suitable peers for placement', 10_005, 'StartError'],
  ['an election', 'JetStream system temporarily unavailable', 10_008, 'JetStreamApiError'],
])('%s: the start fails only if the error does not go away by itself', async (_, description, code, name) => {
  await expect(ensureStreams(failing(missing, answer(code, description)), 'kith', 3)).rejects.toMatchObject({
    name,
  });
});

test('if the server does not say whether a stream exists, the stream is not created', async () => {
  const silent = failing(new TimeoutError(), new Error('tried to create the stream'));
  await expect(ensureStreams(silent, 'kith', 1)).rejects.toThrow(TimeoutError);
});
