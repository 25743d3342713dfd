// Quick counterpart: tests/guides.test.ts
// Starts no platform and at most 10 processes.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followGuide } from './support/follow-guide.ts';
import { readBlocks } from './support/guide.ts';
import { copyRepository } from './support/repository-copy.ts';

const run = promisify(execFile);

describe.each(['quick-start.md', 'walkthrough.md'])('docs/%s', (guide) => {
  // The guides begin with a fresh clone, which has no data yet. So they are followed in a copy of the repository.
  let copy: Awaited<ReturnType<typeof copyRepository>>;
  let elsewhere: string;
  const git = async (...words: string[]) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
    return (await run('git', words, { cwd: copy.path, env })).stdout;
  };
  beforeAll(async () => {
    copy = await copyRepository();
    elsewhere = await mkdtemp(join(tmpdir(), 'kith-guide-'));
    await git('init', '--quiet');
    await git('add', '--all');
  }, 60_000);
  afterAll(async () => {
    await copy[Symbol.asyncDispose]();
    await rm(elsewhere, { recursive: true, force: true });
  });

  it('all commands can be pasted in order, and print the output that the guide shows', async () => {
    const blocks = await readBlocks(guide);
    const env = {
      PORT: '0',
      INTERNAL_PORT: undefined,
      NODE_ENV: undefined,
      TMPDIR: elsewhere,
      // The packages are installed already, so npm has to ask no registry.
      npm_config_offline: 'true',
    };
    const commands = await followGuide(guide, blocks, { folder: copy.path, env });
    expect(commands).toBe(blocks.filter(({ language }) => language === 'bash').length);
    // The guide has only two kinds of blocks: commands, and output that the test compares.
    expect(blocks.filter(({ language }) => !['bash', 'json', 'text'].includes(language))).toEqual([]);
    // Git ignores all files that the guide has written. Some of these files contain tokens.
    expect(await git('diff', '--name-only')).toBe('');
    expect(await git('ls-files', '--others', '--exclude-standard')).toBe('');
  }, 500_000);
});
