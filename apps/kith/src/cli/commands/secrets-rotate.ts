import type { Command } from '../command.ts';
import { secretsConfig } from '../secrets/config.ts';

/** Seals all sealed data again, under another secret of the installation (docs/secrets.md). */
export const rotateSecretsCommand: Command = {
  name: 'secrets rotate',
  summary: 'seal all sealed data again under a new KITH_SECRET',
  text: `With MONGODB_URL the command works on the databases of the distributed form; the platform may keep running. Give the new secret
as KITH_SECRET and the old one as KITH_SECRET_PREVIOUS. Without MONGODB_URL it works on the data folder of a stopped embedded
platform, and makes a new secret in the folder. If KITH_SECRET is set, its value is the new secret, and the folder holds no
secret any more.

If the command was interrupted, run it again. See docs/secrets.md.`,
  reads: secretsConfig,
  options: {},
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runRotateSecrets } = await import('../secrets/run-rotate.ts');
    return runRotateSecrets(given, around);
  },
};
