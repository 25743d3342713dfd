import { randomBytes } from 'node:crypto';
import { Secrets, StartError } from '@kith/base';
import { checkSeal, readKeys } from '@kith/identity';
import { secretsOf } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { dataFolder } from '../../forms/data-folder.ts';
import { withFoundSecret } from '../../forms/installation-secret.ts';
import { Check, type Finding } from './finding.ts';
import type { Settings } from './settings.ts';

/** Checks whether a start could open the signing keys in identity's database. Rejects when the database cannot be read. */
export async function checkSecret({ config, refused }: Settings, store: StoreConfig): Promise<Finding[]> {
  // The checks of the settings report a secret that is refused, and a secret that is missing in production.
  const isReported = [...refused].some((name) => name.startsWith('KITH_SECRET'));
  if (isReported || (config.NODE_ENV === 'production' && !config.KITH_SECRET)) return [];
  const check = new Check('secret');
  try {
    const keys = await readKeys(store);
    if (keys.length === 0) return [];
    const found = withFoundSecret(dataFolder(config.KITH_DATA), config);
    // A start without a secret would make a new one.
    checkSeal(keys, found ? secretsOf(found) : new Secrets(randomBytes(32).toString('base64url')));
    check.ok('It opens the signing keys in the database.');
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const [says = '', ...mend] = error.message.split(/(?<=\.) (?=(?:Set|Start) )/);
    check.wrong(says, mend.join(' '));
  }
  return check.findings;
}
