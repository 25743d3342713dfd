// Changes the secret of an installation in the files that setup.ts has made (docs/secrets.md). Usage: `node rotate-secret.ts
// <folder> begin` makes a new secret, `… end` removes the previous secret.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { engineOwner } from './credentials.ts';
import { beginSecretChange, endSecretChange, secretReaders } from './shared-secret.ts';

const [folder, step] = process.argv.slice(2);
if (!folder || (step !== 'begin' && step !== 'end'))
  throw new Error('Name the folder and the step: node rotate-secret.ts <folder> begin|end');
if (!existsSync(join(folder, secretReaders[0], 'secret')))
  throw new Error(`${folder} has no secret: run setup.ts first.`);

const owner = engineOwner();
const restart = `Restart ${secretReaders.join(', ')}`;
const tell = (text: string) => process.stdout.write(`${text}\n`);

if (step === 'end') {
  endSecretChange(folder, owner);
  tell(`The old secret is removed. ${restart}.`);
} else if (beginSecretChange(folder, owner)) {
  tell(`There is a new secret now, and the old secret is kept. ${restart}, then run kith secrets rotate.`);
} else {
  tell(
    `A change of the secret is already under way. ${restart}, run kith secrets rotate, and then end the change with: rotate-secret.ts ${folder} end`,
  );
}
