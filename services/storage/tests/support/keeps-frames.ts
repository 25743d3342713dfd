import { createImage, getFileVariant, type StoredImage } from '@kith/contracts';
import sharp from 'sharp';
import { expect } from 'vitest';
import { filmOf } from '../../../../tests/support/film.ts';
import { answerTo, signedRequest, upload } from './bytes-client.ts';
import { someone, type World } from './world.ts';

/** Stores an animation in two sizes, and expects that both contain all frames. */
export async function keepsFrames(world: World, frames: number): Promise<void> {
  const owner = someone();
  const film = filmOf({ width: 480, height: 270, frames });
  const sizes = { name: 'sizes', value: '{"small":400}' };
  const answer = await upload(world.url(), createImage, owner, film, [sizes]);
  expect([answer?.status, answer?.json]).toEqual([
    201,
    expect.objectContaining({ format: 'gif', originalWidth: 480, originalHeight: 270 }),
  ]);
  const { fileId, variants } = answer!.json as StoredImage;
  expect(variants.small).toMatchObject({ width: 400, height: 225 });
  const params = { fileId, variant: 'small' };
  const outgoing = signedRequest(world.url(), getFileVariant, { ...owner, params });
  outgoing.end();
  for (const stored of await Promise.all([world.get(fileId, owner), answerTo(outgoing)])) {
    const { pages, delay } = await sharp(stored?.body, { animated: true }).metadata();
    expect([pages, delay]).toEqual([frames, Array(frames).fill(40)]);
  }
}
