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
  ] as const)('the upload of %s is done completely or not at all if the process dies at any step', (_, act) =>
    dieAtEachStep(act, place),
  );
});

describe.runIf(hasS3())('a process that dies (embedded, s3)', { timeout: 300_000 }, () => {
  it('an upload in parts is done completely or not at all if the process dies at any step', () =>
    dieAtEachStep(uploadOf('file', 5_500_000), { engine: 'embedded', home: 's3' }));
});
