import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { ensureStreams } from './nats-streams.ts';

/**
 * The answers of a server that refuses to create streams. The second answer comes only from a cluster that is just electing a
 * leader.
 */
const refusing = (description: string, err_code: number) => {
  const refuse = () => Promise.reject(new JetStreamApiError({ code: 503, err_code, description }));
  return { streams: { info: refuse, add: refuse } } as unknown as JetStreamManager;
};

test.each([
  ['too few servers', 'no suitable peers for placement', 10_005, 'StartError'],
  ['an election', 'JetStream system temporarily unavailable', 10_008, 'JetStreamApiError'],
])('%s: the start fails only if the error does not go away by itself', async (_, description, code, name) => {
  await expect(ensureStreams(refusing(description, code), 'kith', 3)).rejects.toMatchObject({ name });
});
