import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { filmOf } from '../../../../tests/support/film.ts';
import { Renderer } from './renderer.ts';

it('has one error for an image that takes too long, and another error if the deadline comes first', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-renderer-'));
  const path = join(folder.path, 'sent');
  // sharp measures its timeout in whole seconds. So rendering this image has to take longer than one second.
  await writeFile(path, filmOf({ width: 1920, height: 1080, frames: 45 }));
  const renderer = new Renderer({ longestMs: 1 });
  const render = (deadline: number) =>
    renderer.render({
      ...{ path, format: 'gif', sizes: { small: 200 }, quality: 80, folder: folder.path },
      ...{ signal: new AbortController().signal, deadline },
    });
  await expect(render(Date.now() + 60_000)).rejects.toMatchObject({
    code: 'storage/invalid-image',
    message: expect.stringContaining('takes too long to render'),
  });
  await expect(render(Date.now())).rejects.toMatchObject({ code: 'gateway/unavailable' });
});

it('renders an animation only if all its frames are complete', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-renderer-'));
  const drawn = filmOf({ width: 40, height: 30, frames: 10 });
  // Unlike the drawn film, this film has a palette for all its frames.
  const film = await sharp(drawn, { animated: true }).gif().toBuffer();
  const render = async (bytes: Uint8Array) => {
    const path = join(folder.path, 'sent');
    await writeFile(path, bytes);
    const made = await new Renderer().render({
      ...{ path, format: 'gif', sizes: {}, quality: 80, folder: folder.path },
      ...{ signal: new AbortController().signal, deadline: Date.now() + 60_000 },
    });
    return (await sharp(made.original.path).metadata()).pages;
  };
  // Some encoders leave out the last byte, which marks the end. Other encoders append further data.
  const wholes = [drawn, film, film.subarray(0, -1), Buffer.concat([film, Buffer.from('!')])];
  for (const whole of wholes) expect(await render(whole)).toBe(10);
  for (const part of [0.98, 0.9, 0.5, 0.25]) {
    const cut = render(film.subarray(0, film.length * part));
    await expect(cut, `cut to ${part}`).rejects.toMatchObject({ code: 'storage/invalid-image' });
  }
});
