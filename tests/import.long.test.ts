// Quick counterpart: tests/import.test.ts
// Starts at most 2 platforms and 16 processes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableEngines, sharedPlatform, type TestPlatform } from '@kith/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest';
import { expectDeepImport } from './support/deep-import.ts';
import { expectKilledImportToEndAlike, type Kill } from './support/killed-import.ts';

const minutes = 60_000;

describe.each(availableEngines())('kith import of large files (%s)', (engine) => {
  let platform: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
  });
  afterAll(() => platform?.stop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-import-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it(
    'imports a tree of collections with several simultaneous requests, even if a level needs more than one request',
    () => expectDeepImport(platform, folder, { chains: 30, depth: 90, entities: 6_000 }),
    4 * minutes,
  );

  it(
    'continues where it was killed, at any stage of a request, and gets the same result',
    () => {
      // With lines of this width, each file takes about 25 requests. A run gets at most nine answers before the test kills it.
      const inFile = (of: Kill['of']): Kill[] => [
        { of, request: 9, stage: 'asked' },
        { of, request: 9, stage: 'answered' },
        { of, request: 3, stage: 'told' },
      ];
      const copies: Kill = { of: 'copies', request: 2, stage: 'answered' };
      const kills = [...inFile('users'), copies, ...inFile('connections')];
      return expectKilledImportToEndAlike(platform, folder, { lines: 12_000, width: 500, askers: 40, kills });
    },
    8 * minutes,
  );
});
