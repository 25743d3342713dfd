import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { readConfig, StartError } from '@kith/base';
import { type Given, textOf } from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { readFirstLine } from '../read-text.ts';
import { passphraseConfig } from './config.ts';

/**
 * The passphrase that was given to a command, by `--passphrase-file`, KITH_BACKUP_PASSPHRASE or KITH_BACKUP_PASSPHRASE_FILE.
 * Throws `StartError`. A file without a passphrase is also an error, because the backup would then not be sealed.
 */
export function givenPassphrase(given: Pick<Given, 'options'>, env: NodeJS.ProcessEnv): string | undefined {
  const { KITH_BACKUP_PASSPHRASE: value, KITH_BACKUP_PASSPHRASE_FILE: fileOfValue } = env;
  const file = textOf(given as Given, 'passphrase-file') ?? (value ? undefined : fileOfValue);
  if (!file) return readConfig(passphraseConfig, env).KITH_BACKUP_PASSPHRASE;
  const path = resolvePath(file, env);
  const passphrase = readFirstLine(path).trim();
  if (!passphrase) throw new StartError(`The first line of ${path} is empty; a passphrase is needed there.`);
  return readConfig(passphraseConfig, { KITH_BACKUP_PASSPHRASE: passphrase }).KITH_BACKUP_PASSPHRASE;
}

/** The passphrase of a sealed backup. If none was given, asks for the passphrase at the terminal. Throws `StartError`. */
export async function passphraseFor(
  folder: string,
  given: Pick<Given, 'options'>,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const passphrase = givenPassphrase(given, env) ?? (process.stdin.isTTY ? await ask(folder) : undefined);
  if (passphrase) return passphrase;
  throw new StartError(
    `The backup in ${folder} is sealed; give its passphrase with KITH_BACKUP_PASSPHRASE or KITH_BACKUP_PASSPHRASE_FILE.`,
  );
}

async function ask(folder: string): Promise<string> {
  process.stderr.write(`Passphrase of the backup in ${folder}: `);
  // The terminal does not show the typed passphrase.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
