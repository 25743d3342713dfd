// Starts no platform and no process.
import { handlerEngines } from '@kith/testing';
import { expect, test } from 'vitest';
import { filePrefix } from '../src/file.ts';
import { someone, World } from './support/world.ts';

test.each(handlerEngines())('a file whose bytes are lost is not found (%s)', async (engine) => {
  await using world = await World.start(engine);
  const owner = someone();
  const id = await world.file(owner, Buffer.from('bytes'));
  const answers = async (headers: Record<string, string> = {}) =>
    Promise.all(
      ['GET', 'HEAD'].map(async (method) => (await world.get(id, { ...owner, method, headers }))?.status),
    );
  expect(await answers()).toEqual([200, 200]);
  const tag = { 'if-none-match': `"${id}"` };
  expect(await answers(tag)).toEqual([304, 304]);

  await world.place.blobs.removeAll(filePrefix({ ...owner, id }));
  expect(await answers()).toEqual([404, 404]);
  // A client that already has the bytes may still use them, so it gets 304.
  expect(await answers(tag)).toEqual([304, 304]);
});
