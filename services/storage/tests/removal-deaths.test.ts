import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { deletion, erasure, removal } from './support/dying-acts.ts';

// Starts no platform and at most 120 processes.

describe.each(places)('a process that dies ($engine, $home)', { timeout: 300_000 }, (place) => {
  it('the removal of the bytes of an upload is done completely or not at all if the process dies at any step', () =>
    dieAtEachStep(removal, place));

  // On real engines, the long suite runs these tests.
  it.runIf(place.engine === 'embedded').each([
    ['a deletion, and the removal of the bytes', deletion],
    ['the erasure of a user', erasure],
  ] as const)('%s is done completely or not at all if the process dies at any step', (_, act) =>
    dieAtEachStep(act, place),
  );
});
