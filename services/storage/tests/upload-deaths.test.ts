import { hasS3 } from '@kith/testing';
import { describe, it } from 'vitest';
import { dieAtEachStep, places } from './support/deaths.ts';
import { uploadOf } from './support/dying-acts.ts';

// Starts no platform and at most 130 processes.

describe.each(places)('a process that dies ($engine, $home)', { timeout: 300_000 }, (place) => {
  it('before any step of the upload of a file leaves all of it or nothing', () =>
    dieAtEachStep(uploadOf('file', 700_000), place));

  // On real engines, the long suite runs this test.
  it.runIf(place.engine === 'embedded')('before any step of the upload of an image does, too', () =>
    dieAtEachStep(uploadOf('image', 0), place),
  );
});

describe.runIf(hasS3())('a process that dies (embedded, s3)', { timeout: 300_000 }, () => {
  it('before any step of an upload in parts leaves all of it or nothing', () =>
    dieAtEachStep(uploadOf('file', 5_500_000), { engine: 'embedded', home: 's3' }));
});
