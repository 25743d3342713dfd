// Runs before each test file. Counts the platforms and the processes that the file starts. By default a file may start at most two
// platforms and no process. If it starts more, it fails, unless a comment in the file says how many it needs:
// `// Starts at most 3 platforms and 40 processes.`, `// Starts no platform and at most 20 processes.` and the like.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { testEffort } from '@kith/testing/effort';
import { platformStarts } from '@kith/testing/platform-starts';
import { afterAll, beforeAll, expect } from 'vitest';

const counted = { platforms: 0, processes: 0 };
const countPlatform = () => void counted.platforms++;
const countProcess = () => void counted.processes++;

beforeAll(() => {
  subscribe(platformStarts, countPlatform);
  // Node publishes each asynchronous start of a child process on this channel.
  subscribe('child_process', countProcess);
});

afterAll(() => {
  unsubscribe(platformStarts, countPlatform);
  unsubscribe('child_process', countProcess);
  const path = expect.getState().testPath ?? '';
  const allowed = allowedStarts(readFileSync(path, 'utf8'));
  if (counted.platforms > allowed.platforms || counted.processes > allowed.processes) {
    throw new Error(
      `This file started ${counted.platforms} platforms and ${counted.processes} processes; ` +
        `it may start ${allowed.platforms} and ${allowed.processes}. ` +
        'Share a platform, or say in a comment: // Starts at most N platforms and N processes. ' +
        'Instead of 0, write: no platform, no process.',
    );
  }
});

function allowedStarts(source: string): { platforms: number; processes: number } {
  // The number is missing if the comment says `no platform` or `no process`.
  const said =
    /^\/\/ Starts (?:no platform|at most (\d+) platforms?) and (?:no process|(?:at most )?(\d+) process(?:es)?)\.$/m.exec(
      source,
    );
  // With a higher KITH_TEST_EFFORT, a file runs longer and starts more platforms and processes.
  const effort = testEffort();
  const platforms = said ? Number(said[1] ?? 0) : 2;
  return { platforms: platforms * effort, processes: Number(said?.[2] ?? 0) * effort };
}
