import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { deletion, erasure, removal } from './support/dying-acts.ts';

// Starts no platform and at most 120 processes.

describe.each(places)('a process that dies ($engine, $home)', { timeout: 300_000 }, (place) => {
  it.each([
    ['a deletion, and the removal of the bytes', deletion],
    ['the removal of what an upload has left', removal],
  ] as const)('before any step of %s leaves all of it or nothing', (_, act) => dieAtEachStep(act, place));

  // On real engines, the long suite runs this test.
  it.runIf(place.engine === 'embedded')('before any step of the erasure of a user leaves nothing', () =>
    dieAtEachStep(erasure, place),
  );
});
