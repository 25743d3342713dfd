import { createLogger, redactUrl } from '@kith/base';
import { maxPayload } from '@kith/bus';
import { examineRedis } from '@kith/gateway';
import type { DoctorConfig } from './config.ts';
import { checkMongo, tellSkew } from './databases.ts';
import { Check, type Finding, sentenceOf } from './finding.ts';
import type { Settings } from './settings.ts';

const patienceMs = 2_000;
const oldestNats = [2, 10];
const oldestRedis = [7, 0];

/** Checks the engines of the distributed form. */
export async function checkEngines(settings: Settings): Promise<Finding[]> {
  const { config } = settings;
  const { MONGODB_URL, NATS_URL, REDIS_URL, KITH_PREFIX: prefix } = config;
  const found = await Promise.all([
    MONGODB_URL ? checkMongo(MONGODB_URL, settings) : notSet('MongoDB', 'MONGODB_URL'),
    NATS_URL ? checkNats(NATS_URL, config) : notSet('NATS', 'NATS_URL'),
    REDIS_URL ? checkRedis(REDIS_URL, prefix) : notSet('Redis', 'REDIS_URL'),
  ]);
  return found.flat();
}

function notSet(name: string, variable: string): Finding[] {
  const check = new Check(name);
  check.wrong(`${variable} is not set.`, `Set ${variable} to the address of ${name} that the services use.`);
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
        `NATS allows messages of ${found.maxPayload} bytes, but Kith needs ${maxPayload}.`,
        `Set max_payload: ${maxPayload} in the configuration of NATS.`,
      );
    if (found.refusal !== undefined)
      check.wrong(
        `JetStream does not answer this user: ${found.refusal}.`,
        'Turn JetStream on, and set NATS_NKEY to the seed of the operator’s user.',
      );
    if (found.missing.length > 0)
      check.warn(
        `The streams ${found.missing.join(' and ')} are not there.`,
        'Start the keeper or the services, which create the streams. Check that KITH_PREFIX is the same for all of them.',
      );
    if (!found.asksWho)
      check.warn(
        'NATS accepts connections without credentials.',
        'Start NATS with the configuration that Kith writes, which defines the users (docs/adr/0003-nats-users.md).',
      );
    if (check.findings.length === 0) check.ok(`NATS ${found.version}.`);
  } catch (error) {
    check.wrong(
      redactUrl(sentenceOf(error)),
      'Start NATS. Check that NATS_URL is its address, that its certificate is valid, and that NATS_NKEY is the seed of one of its users.',
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
        'Redis accepts connections without credentials.',
        'Turn on authentication, and put the gateway’s user and password into REDIS_URL.',
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
      `Redis at ${redactUrl(url)} does not answer: ${redactUrl(sentenceOf(error))} Meanwhile each gateway counts rate limits alone.`,
      'Start Redis, and check that REDIS_URL has its address and password.',
    );
  }
  return check.findings;
}

function isOlder(version: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [its = 0, itsMinor = 0] = version.split('.').map(Number);
  return its < major || (its === major && itsMinor < minor);
}
