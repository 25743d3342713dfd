import type { Command } from '../command.ts';
import { folderConfig } from '../data-folder.ts';

/** Says what is wrong with an installation and how to fix it. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check settings, machine, data and engines, and say how to fix what is wrong',
  text: `Looks at the settings in the environment, Node, the clock, the disk, the data folder, its databases, the platform that runs on
it, and the certificate at PUBLIC_URL. It checks whether KITH_SECRET opens the signing keys. With NATS_URL, MONGODB_URL and
REDIS_URL it looks at these engines instead of the data folder. It changes nothing. Each line says what is wrong, or may become
wrong, and how to fix it. Exit code 1 means that something is wrong. If there are only warnings, the exit code is 0.

Run it with the environment and the user that Kith is started with. --env-file reads the file that a systemd unit names as its
EnvironmentFile, as systemd reads it: a # after a value is part of the value. A setting of the file replaces the same setting
of the environment, in all its forms: NAME, NAME_FILE and NAME_COMMAND.

docs/configuration.md lists all environment variables.`,
  reads: folderConfig,
  options: {
    'env-file': { value: 'FILE', text: 'read the settings from this file, a NAME=value on each line' },
    distributed: { text: 'check the engines, even if no variable names them' },
    'least-gib': { value: 'NUMBER', text: 'free space that the disk must have, in GiB (1)' },
    'least-days': {
      value: 'NUMBER',
      text: 'days for which the certificate must still be valid (14)',
    },
  },
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runDoctor } = await import('../doctor/run-doctor.ts');
    return runDoctor(given, around);
  },
};
