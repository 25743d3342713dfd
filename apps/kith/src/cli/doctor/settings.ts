import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, StartError } from '@kith/base';
import { startDefaults } from '../../forms/config.ts';
import { secretFile } from '../../forms/installation-secret.ts';
import { type DoctorConfig, doctorConfig } from './config.ts';
import { Check, type Finding } from './finding.ts';

const manyTurns = 200;
/** A secret with fewer different characters than this number counts as not random, even if it is long. */
const fewCharacters = 10;
const secretLength = 32;
const noisy: readonly string[] = ['trace', 'debug'];
const everyInterface: readonly string[] = ['0.0.0.0', '::'];

/** The settings of an installation that Kith accepts, and the names of the settings that it refuses. */
export interface Settings {
  config: DoctorConfig;
  /** The variables that are refused. `config` does not have them. */
  refused: ReadonlySet<string>;
  findings: Finding[];
}

/**
 * Reads an installation's settings as `kith start` does, and reports which settings are refused. A refused setting counts as
 * absent.
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const check = new Check('settings');
  const left = { ...env };
  const refused = new Set<string>();
  for (let turn = 0; turn < manyTurns; turn++) {
    try {
      return { config: readConfig(doctorConfig, left, startDefaults), refused, findings: check.findings };
    } catch (error) {
      const [, name = ''] = /^([A-Z_0-9]+)/.exec((error as Error).message) ?? [];
      const places = [name, `${name}_FILE`, `${name}_COMMAND`];
      if (!(error instanceof StartError) || !places.some((place) => place in left)) throw error;
      check.wrong(
        `${(error as Error).message.replace(/\.$/, '')}.`,
        'Correct the variable. Kith does not start with this value.',
      );
      refused.add(name);
      for (const place of places) delete left[place];
    }
  }
  throw new StartError('The settings cannot be read.');
}

/** Reports settings that are dangerous or do not fit together. */
export function checkSettings({ config, refused }: Settings, env: NodeJS.ProcessEnv): Finding[] {
  const check = new Check('settings');
  const isProduction = config.NODE_ENV === 'production';
  if (!isProduction) {
    check.warn(
      `NODE_ENV is ${config.NODE_ENV}: demo data, test tokens and the whole reference are open to everybody.`,
      'Set NODE_ENV=production before strangers can reach this installation.',
    );
  } else {
    checkProduction(config, check);
  }
  if (isProduction && !secretPlaces.some((place) => refused.has(place))) checkSecretIsGiven(config, check);
  for (const name of ['OPERATOR_TOKEN', 'KITH_SECRET'] as const)
    checkSecret(name, config[name], isProduction, check);
  checkSecretFiles(env, check);
  if (check.findings.length === 0) check.ok('The settings are fit for production.');
  return check.findings;
}

function checkProduction(config: DoctorConfig, check: Check): void {
  const { HOST, INTERNAL_HOST, PUBLIC_URL, TRUST_PROXY_HOPS } = config;
  if (config.ALLOW_TEST_TOKENS)
    check.wrong(
      'ALLOW_TEST_TOKENS is true: anyone can send private keys to this server and have test tokens signed.',
      'Remove ALLOW_TEST_TOKENS.',
    );
  if (config.RATE_LIMIT_SCALE === 0)
    check.wrong('RATE_LIMIT_SCALE is 0: nothing is limited.', 'Remove RATE_LIMIT_SCALE.');
  if (noisy.includes(config.LOG_LEVEL))
    check.warn(`LOG_LEVEL is ${config.LOG_LEVEL}: logs grow with every request.`, 'Set LOG_LEVEL=info.');
  if (config.API_REFERENCE === 'all')
    check.warn(
      'API_REFERENCE is all: everybody can read the reference.',
      'If you do not want this, remove API_REFERENCE.',
    );
  if (everyInterface.includes(INTERNAL_HOST))
    check.warn(
      `INTERNAL_HOST is ${INTERNAL_HOST}: metrics are open to every network of this machine.`,
      'Set INTERNAL_HOST=127.0.0.1, or close INTERNAL_PORT with a firewall.',
    );
  if (config.TOKEN_AUDIENCE === 'kith.dev')
    check.warn(
      'TOKEN_AUDIENCE is the default: tokens of other installations can have the same audience.',
      'Set TOKEN_AUDIENCE to your own domain. Users then have to sign in again.',
    );
  if (PUBLIC_URL === undefined)
    check.warn(
      'PUBLIC_URL is not set: addresses of files are relative, and the certificate is not checked.',
      'Set PUBLIC_URL to the address by which clients reach Kith, such as https://api.example.org.',
    );
  else if (!PUBLIC_URL.startsWith('https:'))
    check.wrong(
      `PUBLIC_URL is ${PUBLIC_URL}: passwords and tokens are sent unencrypted.`,
      'Put a proxy with TLS in front, and set PUBLIC_URL to its https address (docs/hosting.md).',
    );
  else if (TRUST_PROXY_HOPS === 0)
    check.wrong(
      'TRUST_PROXY_HOPS is 0, but PUBLIC_URL is the address of a proxy: all clients share one rate limit.',
      'Set TRUST_PROXY_HOPS to the number of proxies in front, usually 1.',
    );
  if (TRUST_PROXY_HOPS > 0 && everyInterface.includes(HOST))
    check.warn(
      `HOST is ${HOST} behind a proxy: clients that reach PORT without the proxy can claim any IP address.`,
      'Set HOST=127.0.0.1, or let the firewall open PORT only to the proxy.',
    );
}

const secretPlaces = ['KITH_SECRET', 'KITH_SECRET_FILE', 'KITH_SECRET_COMMAND'];

/** Reports a missing KITH_SECRET. In production Kith does not start without it, even if the data folder holds a secret. */
function checkSecretIsGiven({ KITH_SECRET, KITH_DATA }: DoctorConfig, check: Check): void {
  if (KITH_SECRET !== undefined) return;
  const kept = join(KITH_DATA, secretFile);
  check.wrong(
    'KITH_SECRET is not set: in production, Kith does not start without it.',
    existsSync(kept)
      ? `Move ${kept} to a place outside of the data folder, and set KITH_SECRET_FILE to its new path.`
      : 'Set KITH_SECRET_FILE to a file outside of the data folder. Existing data needs the secret under which it was sealed. For a new installation, make a secret: openssl rand -base64 32',
  );
}

function checkSecret(name: string, value: string | undefined, isProduction: boolean, check: Check): void {
  if (value === undefined) return;
  const advice = `Make a new one with: openssl rand -base64 32. Write it to a file, and set ${name}_FILE to this file.${name === 'KITH_SECRET' ? ' If there is data already, see docs/secrets.md first.' : ''}`;
  if (value.length < secretLength) {
    const says = `${name} has ${value.length} characters, fewer than ${secretLength}.`;
    if (isProduction) check.wrong(says, advice);
    else check.warn(says, advice);
  } else if (new Set(value).size < fewCharacters) {
    check.wrong(`${name} repeats a few characters, so it can be guessed.`, advice);
  }
}

/** Reports files with secrets, if every user of the machine can read them. */
function checkSecretFiles(env: NodeJS.ProcessEnv, check: Check): void {
  for (const name of Object.keys(doctorConfig.shape)) {
    const file = env[`${name}_FILE`];
    const mode = file ? modeOf(file) : undefined;
    if (mode !== undefined && (mode & 0o007) !== 0)
      check.wrong(`${name}_FILE: every user of this machine can read ${file}.`, `Run: chmod 640 ${file}`);
  }
}

/** The mode of a file; `undefined` if the file cannot be read. `readSettings` reports such a file. */
function modeOf(file: string): number | undefined {
  try {
    return statSync(file).mode;
  } catch {
    return undefined;
  }
}
