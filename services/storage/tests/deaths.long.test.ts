// Quick counterpart: services/storage/tests/upload-deaths.test.ts
// Starts no platform and at most 350 processes.
import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { deletion, erasure, uploadOf } from './support/dying-acts.ts';

const onEngines = places.filter(({ engine }) => engine === 'containers');

describe.each(onEngines)('a process that dies ($engine, $home)', { timeout: 600_000 }, (place) => {
  it.each([
    ['the upload of a file', uploadOf('file', 700_000)],
    ['the upload of an image', uploadOf('image', 0)],
    ['a deletion, and the removal of the bytes', deletion],
    ['the erasure of a user', erasure],
  ] as const)('%s is done completely or not at all if the process dies at any step', (_, act) =>
    dieAtEachStep(act, place),
  );
});
