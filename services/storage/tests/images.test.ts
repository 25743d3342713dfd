import { rename, rm, writeFile } from 'node:fs/promises';
import { createImage } from '@kith/contracts';
import { openBlobs } from '@kith/store/blobs';
import { handlerEngines } from '@kith/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { filmOf } from '../../../tests/support/film.ts';
import { smallPng } from '../../../tests/support/multipart.ts';
import { upload } from './support/bytes-client.ts';
import { keepsFrames } from './support/keeps-frames.ts';
import { createPlace } from './support/place.ts';
import { someone, World } from './support/world.ts';

describe.each(handlerEngines())('images (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it('keep the frames of an animation', () => keepsFrames(world, 20));

  it('are recognised as AVIF even if avif is not the first brand of the file', async () => {
    const bytes = await sharp(smallPng).avif().toBuffer();
    expect(bytes.toString('latin1', 4, 12)).toBe('ftypavif');
    bytes.write('mif1', 8);
    const answer = await upload(world.url(), createImage, someone(), bytes);
    expect([answer?.status, answer?.json]).toEqual([201, expect.objectContaining({ format: 'avif' })]);
  });

  it('are answered as stored even if their temporary files cannot be removed', async () => {
    await using place = await createPlace(engine);
    const { draftFolder } = place.config;
    const blobs = await openBlobs(place.config.blobs);
    const put = blobs.put.bind(blobs);
    vi.spyOn(blobs, 'put').mockImplementation(async (...given) => {
      const size = await put(...given);
      // A file takes the place of the folder, so every removal below this place fails.
      await rename(draftFolder, `${draftFolder}.away`);
      await writeFile(draftFolder, '');
      return size;
    });
    const owner = someone();
    {
      await using broken = await World.start(engine, { place, blobs });
      const answer = await upload(broken.url(), createImage, owner, smallPng);
      expect(answer?.status).toBe(201);
    }
    await rm(draftFolder);
    await rename(`${draftFolder}.away`, draftFolder);
    expect((await place.held(owner)).rows).toHaveLength(1);
  });

  it('are refused, and leave no bytes, if they cannot be rendered in time', async () => {
    await using hurried = await World.start(engine, { answerMs: 500 });
    const owner = someone();
    const film = filmOf({ width: 1920, height: 1080, frames: 20 });
    // Two images are rendered at the same time, and the third one waits.
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => upload(hurried.url(), createImage, owner, film)),
    );
    for (const answer of answers) {
      expect([answer?.status, answer?.json]).toEqual([
        503,
        expect.objectContaining({ code: 'gateway/unavailable' }),
      ]);
      expect(answer?.headers['retry-after']).toBe('1');
    }
    expect(await hurried.place.held(owner)).toMatchObject({ files: 0, bytes: 0, keys: [], unfinished: 0 });
  });
});
