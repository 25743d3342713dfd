import { readFileSync } from 'node:fs';
import { StartError } from '@kith/base/config';
import { runningIn } from '../../forms/running.ts';
import { Failure, type Given, type Result, type Surroundings, textOf, UsageError } from '../command.ts';
import { dataFolderIn, resolvePath } from '../data-folder.ts';
import { unreadable } from '../file-error.ts';
import { trustAuthorities } from './authorities.ts';
import { checkCertificate } from './certificate.ts';
import type { DoctorConfig } from './config.ts';
import { checkFiles } from './databases.ts';
import { checkEngines } from './engines.ts';
import { readEnvironmentFile } from './environment-file.ts';
import type { Finding } from './finding.ts';
import { checkFolder, checkStamps } from './folder.ts';
import { checkClock, checkDisk, checkNode } from './machine.ts';
import { checkAddress, checkRunning } from './platform.ts';
import { checkSettings, readSettings, type Settings } from './settings.ts';

/** Carries out `kith doctor`: checks everything, and changes nothing. */
export async function runDoctor(given: Given, { env }: Surroundings): Promise<Result> {
  const own = environmentOf(given, env);
  const settings = readSettings(own);
  const { config } = settings;
  const findings = [
    ...settings.findings,
    ...checkSettings(settings, own),
    ...trustAuthorities(own),
    ...checkNode(),
    ...checkClock(config.KITH_DATA),
    ...checkDisk(config.KITH_DATA, numberOf(given, 'least-gib')),
    ...(await (isDistributed(given, config) ? checkDistributed(settings) : checkEmbedded(settings))),
    ...(await checkPublic(config, numberOf(given, 'least-days'))),
  ];
  const wrong = findings.filter(({ state }) => state === 'wrong').length;
  const failure = wrong === 0 ? undefined : new Failure('not-well', `${wrong} of these must be fixed.`);
  return { value: { isWell: wrong === 0, findings }, text: findings.map(lineOf).join(''), failure };
}

/**
 * Reads a file in the format of a systemd unit's `EnvironmentFile`. The variables in the file take precedence over the command's
 * own environment. systemd does not pass the command's own NODE_ENV to the unit, so only the file's NODE_ENV counts.
 */
function environmentOf(given: Given, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const named = textOf(given, 'env-file');
  if (named === undefined) return env;
  const file = resolvePath(named, env);
  try {
    const inFile = readEnvironmentFile(readFileSync(file, 'utf8'));
    const own: NodeJS.ProcessEnv = { ...env, NODE_ENV: undefined, NODE_ENV_FILE: undefined };
    // Kith prefers NAME to NAME_FILE, and NAME_FILE to NAME_COMMAND. So if the file sets one of these three variables, none of
    // the three is taken from the command's own environment.
    for (const variable of Object.keys(inFile)) {
      const name = variable.replace(/_(FILE|COMMAND)$/, '');
      for (const form of ['', '_FILE', '_COMMAND']) delete own[name + form];
    }
    const all = { ...own, ...inFile };
    return { ...all, KITH_DATA: dataFolderIn(all) };
  } catch (error) {
    throw error instanceof StartError ? error : unreadable(file, error as NodeJS.ErrnoException);
  }
}

function isDistributed(given: Given, { MONGODB_URL, NATS_URL, REDIS_URL, KITH_DATA }: DoctorConfig): boolean {
  if (given.options.distributed || MONGODB_URL || NATS_URL || REDIS_URL) return true;
  try {
    return runningIn(KITH_DATA)?.form === 'distributed';
  } catch {
    return false;
  }
}

async function checkEmbedded(settings: Settings): Promise<Finding[]> {
  const { KITH_DATA: path } = settings.config;
  const { findings, isUsable } = checkFolder(path);
  if (!isUsable) return findings;
  return [...findings, ...checkStamps(path), ...(await checkFiles(settings)), ...(await checkRunning(path))];
}

/**
 * If addresses of engines are given, checks these engines. If not, `kith start` has started the engines, and only the services
 * know their addresses. In this case, the services report whether they reach their engines.
 */
async function checkDistributed(settings: Settings): Promise<Finding[]> {
  const { MONGODB_URL, NATS_URL, REDIS_URL, KITH_DATA: path } = settings.config;
  const isNamed = MONGODB_URL || NATS_URL || REDIS_URL;
  return isNamed ? checkEngines(settings) : checkRunning(path);
}

async function checkPublic({ PUBLIC_URL }: DoctorConfig, leastDays: number): Promise<Finding[]> {
  if (!PUBLIC_URL?.startsWith('https:')) return [];
  const { findings, isUsable } = await checkCertificate(PUBLIC_URL, leastDays);
  return isUsable ? [...findings, ...(await checkAddress(PUBLIC_URL))] : findings;
}

function numberOf(given: Given, name: 'least-gib' | 'least-days'): number {
  const text = textOf(given, name) ?? { 'least-gib': '1', 'least-days': '14' }[name];
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${name}: a number is needed.`);
  return Number(text);
}

function lineOf({ check, state, says, mend }: Finding): string {
  return `${state.padEnd(7)}  ${check}: ${says}${mend === undefined ? '' : ` ${mend}`}\n`;
}
