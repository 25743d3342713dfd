// Starts no platform and at most 350 processes.
import { handlerEngines, hasS3 } from '@kith/testing';
import { describe, it } from 'vitest';
import { dieAtEachStep } from './support/deaths.ts';
import { deletion, erasure, removal, uploadOf } from './support/dying-acts.ts';
import { homeOf } from './support/place.ts';

describe.each(handlerEngines())('a process that dies (%s)', { timeout: 600_000 }, (engine) => {
  it.each([
    ['the upload of a file', uploadOf('file', 700_000)],
    ['the upload of an image', uploadOf('image', 0)],
    ['a deletion, and the removal of the bytes', deletion],
    ['the erasure of a user', erasure],
    ['the removal of the bytes of an upload', removal],
  ] as const)('%s is done completely or not at all if the process dies at any step', (_, act) =>
    dieAtEachStep(act, { engine, home: homeOf(engine) }),
  );
});

describe.runIf(hasS3() && handlerEngines().includes('embedded'))(
  'a process that dies (embedded, s3)',
  { timeout: 300_000 },
  () => {
    it('an upload in parts is done completely or not at all if the process dies at any step', () =>
      dieAtEachStep(uploadOf('file', 5_500_000), { engine: 'embedded', home: 's3' }));
  },
);
