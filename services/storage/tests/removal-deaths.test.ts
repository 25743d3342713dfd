import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { deletion, erasure, removal } from './support/dying-acts.ts';

// Starts no platform and at most 120 processes.

describe.each(places)('a process that dies ($engine, $home)', { timeout: 300_000 }, (place) => {
  it('before any step of the removal of the bytes of an upload leaves all of it or nothing', () =>
    dieAtEachStep(removal, place));

  // On real engines, the long suite runs these tests.
  it.runIf(place.engine === 'embedded').each([
    ['a deletion, and the removal of the bytes', deletion],
    ['the erasure of a user', erasure],
  ] as const)('before any step of %s leaves all of it or nothing', (_, act) => dieAtEachStep(act, place));
});
