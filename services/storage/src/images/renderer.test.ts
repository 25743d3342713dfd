import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filmOf } from '../../../../tests/support/film.ts';
import { Renderer } from './renderer.ts';

it('returns different errors if an image takes too long and if the deadline comes first', async () => {
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
