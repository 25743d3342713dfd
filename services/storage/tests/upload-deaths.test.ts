import { hasS3 } from '@kith/testing';
import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { uploadOf } from './support/dying-acts.ts';

// Starts no platform and at most 130 processes.

// On real engines, the long suite runs these tests.
const embedded = places.filter(({ engine }) => engine === 'embedded');

describe.each(embedded)('a process that dies ($engine, $home)', { timeout: 300_000 }, (place) => {
  it.each([
    ['a file', uploadOf('file', 700_000)],
    ['an image', uploadOf('image', 0)],
  ] as const)('before any step of the upload of %s leaves all of it or nothing', (_, act) =>
    dieAtEachStep(act, place),
  );
});

describe.runIf(hasS3())('a process that dies (embedded, s3)', { timeout: 300_000 }, () => {
  it('before any step of an upload in parts leaves all of it or nothing', () =>
    dieAtEachStep(uploadOf('file', 5_500_000), { engine: 'embedded', home: 's3' }));
});
