// Starts no platform and at most 2 processes.
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { availableEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followGuide } from './support/follow-guide.ts';
import { readBlocks } from './support/guide.ts';
import { copyRepository } from './support/repository-copy.ts';

const run = promisify(execFile);
const guide = 'add-a-service.md';

/** The environment without the variables that this test runner has set. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VITEST|_DESK$/.test(name)));

describe(`docs/${guide}`, () => {
  let copy: Awaited<ReturnType<typeof copyRepository>>;
  beforeAll(async () => {
    copy = await copyRepository();
  });
  afterAll(() => copy[Symbol.asyncDispose]());

  it('leads to a service that passes its suite, on every engine', async () => {
    const files = (await readBlocks(guide)).filter(({ file }) => file !== undefined);
    await followGuide(guide, files, { folder: copy.path });
    // Links the package of the new service, as npm would.
    await symlink('../../services/statistics', join(copy.path, 'node_modules/@kith/statistics'));
    const words = ['tools/bootstrap.mjs', 'tools/test.ts', 'services/statistics'];
    const { stdout } = await run(process.execPath, words, { cwd: copy.path, env });
    expect(stdout).toContain(`${availableEngines().length} passed, 0 failed`);
  }, 60_000);
});
