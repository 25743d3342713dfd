// Quick counterpart: services/storage/tests/upload-deaths.test.ts
// Starts no platform and at most 250 processes.
import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { erasure, uploadOf } from './support/dying-acts.ts';

const onEngines = places.filter(({ engine }) => engine === 'containers');

describe.each(onEngines)('a process that dies ($engine, $home)', { timeout: 600_000 }, (place) => {
  it('before any step of the upload of an image leaves all of it or nothing', () =>
    dieAtEachStep(uploadOf('image', 0), place));

  it('before any step of the erasure of a user leaves nothing', () => dieAtEachStep(erasure, place));
});
