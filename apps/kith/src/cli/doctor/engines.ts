import { createLogger, redactUrl } from '@kith/base';
import { maxPayload } from '@kith/bus';
import { examineRedis } from '@kith/gateway';
import type { DoctorConfig } from './config.ts';
import { checkMongo, tellSkew } from './databases.ts';
import { Check, type Finding, sentenceOf } from './finding.ts';

const patienceMs = 2_000;
const oldestNats = [2, 10];
const oldestRedis = [7, 0];

/** Checks the engines of the distributed form. */
export async function checkEngines(config: DoctorConfig): Promise<Finding[]> {
  const { MONGODB_URL, NATS_URL, REDIS_URL, KITH_PREFIX: prefix } = config;
  const found = await Promise.all([
    MONGODB_URL ? checkMongo(MONGODB_URL, prefix) : notSet('MongoDB', 'MONGODB_URL'),
    NATS_URL ? checkNats(NATS_URL, config) : notSet('NATS', 'NATS_URL'),
    REDIS_URL ? checkRedis(REDIS_URL, prefix) : notSet('Redis', 'REDIS_URL'),
  ]);
  return found.flat();
}

function notSet(name: string, variable: string): Finding[] {
  const check = new Check(name);
  check.wrong(
    `${variable} is not set.`,
    `Set ${variable} to the address of ${name}, as its services have it.`,
  );
  return check.findings;
}

async function checkNats(url: string, { NATS_NKEY, KITH_PREFIX: prefix }: DoctorConfig): Promise<Finding[]> {
  const check = new Check('NATS');
  const { examineNats } = await import('@kith/bus/nats');
  try {
    const found = await examineNats({
      ...{ url, prefix, nkeySeed: NATS_NKEY, name: 'operator', connectTimeoutMs: patienceMs },
      log: createLogger({ name: 'doctor', level: 'silent' }),
    });
    if (isOlder(found.version, oldestNats))
      check.wrong(`NATS ${found.version} is too old.`, `Install NATS ${oldestNats.join('.')} or newer.`);
    if (found.maxPayload < maxPayload)
      check.wrong(
        `NATS takes messages of ${found.maxPayload} bytes, fewer than ${maxPayload}.`,
        `Set max_payload: ${maxPayload} in its configuration.`,
      );
    if (found.refusal !== undefined)
      check.wrong(
        `JetStream does not answer this user: ${found.refusal}.`,
        'Turn JetStream on, and set NATS_NKEY to the seed of the operator’s user.',
      );
    if (found.missing.length > 0)
      check.warn(
        `The streams ${found.missing.join(' and ')} are not there.`,
        'Start the keeper or the services, which make them; see whether KITH_PREFIX is theirs.',
      );
    if (!found.asksWho)
      check.warn(
        'NATS lets everybody in who can reach it.',
        'Start it with the users that Kith writes (docs/adr/0003-nats-users.md).',
      );
    if (check.findings.length === 0) check.ok(`NATS ${found.version}.`);
  } catch (error) {
    check.wrong(
      redactUrl(sentenceOf(error)),
      'Start NATS, and see whether NATS_URL is its address and NATS_NKEY a seed that it knows.',
    );
  }
  return check.findings;
}

async function checkRedis(url: string, prefix: string): Promise<Finding[]> {
  const check = new Check('Redis');
  try {
    const { version, aheadMs, asksWho } = await examineRedis(url, prefix);
    if (version && isOlder(version, oldestRedis))
      check.wrong(`Redis ${version} is too old.`, `Install Redis ${oldestRedis[0]} or newer, or Valkey.`);
    if (aheadMs !== undefined) tellSkew(check, aheadMs);
    if (!asksWho)
      check.warn(
        'Redis lets everybody in who can reach it.',
        'Let it ask for a password, and name the gateway’s user in REDIS_URL.',
      );
    if (check.findings.length === 0) check.ok(`Redis ${version}`.trim().concat('.'));
  } catch (error) {
    if (/WRONGPASS|NOAUTH|NOPERM/.test(sentenceOf(error))) {
      check.wrong(
        `Redis at ${redactUrl(url)} refuses the user of REDIS_URL: ${redactUrl(sentenceOf(error))}`,
        'Set REDIS_URL to a user that Redis knows. If an upgrade has made this user, restart Redis, which reads its users when it starts.',
      );
      return check.findings;
    }
    check.wrong(
      `Redis at ${redactUrl(url)} does not answer: ${redactUrl(sentenceOf(error))} Limits are counted by each gateway alone.`,
      'Start Redis, and see whether REDIS_URL is its address, with its password.',
    );
  }
  return check.findings;
}

function isOlder(version: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [its = 0, itsMinor = 0] = version.split('.').map(Number);
  return its < major || (its === major && itsMinor < minor);
}
