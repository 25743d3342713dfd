import { expect, test } from 'vitest';
import { openMongo } from '../src/drivers/mongo.ts';

test('times in the URL, in upper or lower case, override the defaults of Kith', async () => {
  const began = performance.now();
  const opening = openMongo({
    // Nothing listens on this port. The driver tries for 50 ms, as the URL says, and not for Kith's own 3 s.
    url: 'mongodb://127.0.0.1:1/?SERVERSELECTIONTIMEOUTMS=50',
    database: 'x',
    schema: { version: 1, collections: {} },
    connectTimeoutMs: 0,
  });
  await expect(opening).rejects.toThrow('cannot be used');
  expect(performance.now() - began).toBeLessThan(2_500);
});
