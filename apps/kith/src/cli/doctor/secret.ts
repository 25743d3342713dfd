import { randomBytes } from 'node:crypto';
import { Secrets, StartError } from '@kith/base';
import { checkSeal, readKeys } from '@kith/identity';
import { secretsOf } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { dataFolder } from '../../forms/data-folder.ts';
import { withFoundSecret } from '../../forms/installation-secret.ts';
import type { DoctorConfig } from './config.ts';
import { Check, type Finding, sentenceOf } from './finding.ts';
import type { Settings } from './settings.ts';

/** Checks whether a start could open the signing keys in identity's database. */
export async function checkSecret({ config, refused }: Settings, store: StoreConfig): Promise<Finding[]> {
  // The checks of the settings report a secret that is refused, and a secret that is missing in production.
  const isReported = [...refused].some((name) => name.startsWith('KITH_SECRET'));
  if (isReported || (config.NODE_ENV === 'production' && !config.KITH_SECRET)) return [];
  const check = new Check('secret');
  try {
    const keys = await readKeys(store);
    if (keys.length === 0) return [];
    checkSeal(keys, secretsFor(store, config));
    check.ok('It opens the signing keys in the database.');
  } catch (error) {
    if (error instanceof StartError) {
      const [says = '', ...mend] = error.message.split(/(?<=\.) (?=(?:Set|Start) )/);
      check.wrong(says, mend.join(' '));
    } else {
      check.wrong(
        `The signing keys cannot be read: ${sentenceOf(error)}`,
        'Give this user the right to read the data folder and its file secret, or start the version of Kith that wrote the data.',
      );
    }
  }
  return check.findings;
}

/** The secrets that a start would have. Throws `StartError` if it would have none. */
function secretsFor({ kind }: StoreConfig, config: DoctorConfig): Secrets {
  // Services that are started one by one do not read the data folder. So if a secret is set, only this secret is tried.
  const { KITH_SECRET, KITH_SECRET_PREVIOUS } = config;
  if (kind === 'mongo' && KITH_SECRET) return secretsOf({ KITH_SECRET, KITH_SECRET_PREVIOUS });
  const found = withFoundSecret(dataFolder(config.KITH_DATA), config);
  // A start without a secret would make a new one.
  return found ? secretsOf(found) : new Secrets(randomBytes(32).toString('base64url'));
}
