import { freePort } from '@kith/platform/engines';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followGuide } from './support/follow-guide.ts';
import { readBlocks } from './support/guide.ts';
import { copyRepository } from './support/repository-copy.ts';

describe.each(['quick-start.md', 'walkthrough.md'])('docs/%s', (guide) => {
  // A clone has no data yet.
  let copy: Awaited<ReturnType<typeof copyRepository>>;
  beforeAll(async () => {
    copy = await copyRepository();
  });
  afterAll(() => copy[Symbol.asyncDispose]());

  it('can be pasted from beginning to end, and prints what it shows', async () => {
    const blocks = await readBlocks(guide);
    const env = { PORT: '0', INTERNAL_PORT: String(await freePort()), NODE_ENV: undefined };
    const commands = await followGuide(guide, blocks, { folder: copy.path, env });
    expect(commands).toBe(blocks.filter(({ language }) => language === 'bash').length);
    // Nothing is shown that is not compared.
    expect(blocks.filter(({ language }) => !['bash', 'json', 'text'].includes(language))).toEqual([]);
  }, 500_000);
});
