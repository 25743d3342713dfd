// Quick counterpart: tests/guides.test.ts
// Starts no platform and at most 1 process.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followGuide } from './support/follow-guide.ts';
import { readBlocks } from './support/guide.ts';
import { copyRepository } from './support/repository-copy.ts';

describe('docs/add-an-endpoint.md', () => {
  let copy: Awaited<ReturnType<typeof copyRepository>>;
  beforeAll(async () => {
    copy = await copyRepository();
  });
  afterAll(() => copy[Symbol.asyncDispose]());

  it('the endpoint of the guide answers through the gateway and passes `npm run check`', async () => {
    const blocks = await readBlocks('add-an-endpoint.md');
    const env = { PORT: '0', NODE_ENV: undefined };
    expect(await followGuide('add-an-endpoint.md', blocks, { folder: copy.path, env })).toBe(5);
  }, 600_000);
});
