import { existsSync } from 'node:fs';
import { redactUrl } from '@kith/base';
import { storeOf } from '@kith/service';
import { type Examined, type ExaminedServer, examineDocuments } from '@kith/store/open';
import { isDamage } from '../../forms/check-whole.ts';
import { dataFolder } from '../../forms/data-folder.ts';
import { serviceBackups } from '../../services.ts';
import { Check, type Finding, sentenceOf } from './finding.ts';
import { skewMs } from './machine.ts';
import { checkSecret } from './secret.ts';
import type { Settings } from './settings.ts';

/**
 * Checks whether the services' files are undamaged and have the indexes that this version declares, and whether a start can open
 * the keys in them.
 */
export async function checkFiles(settings: Settings): Promise<Finding[]> {
  const folder = dataFolder(settings.config.KITH_DATA);
  const findings: Finding[] = [];
  for (const { service, declared } of serviceBackups) {
    const check = new Check(`database ${service}`);
    const file = folder.file(`${service}.sqlite`);
    if (!existsSync(file)) continue;
    try {
      tell(check, await examineDocuments({ kind: 'sqlite', file }, declared));
      if (service === 'identity') findings.push(...(await checkSecret(settings, { kind: 'sqlite', file })));
    } catch (error) {
      check.wrong(
        `${file} cannot be read: ${sentenceOf(error)}`,
        isDamage(error)
          ? 'Restore it from a backup (docs/backup.md).'
          : 'Check its owner and mode, its disk, and whether another program uses it.',
      );
    }
    findings.push(...check.findings);
  }
  return findings;
}

/** Checks the services' databases on MongoDB, the keys in them, and the server itself. */
export async function checkMongo(url: string, settings: Settings): Promise<Finding[]> {
  const { KITH_PREFIX: prefix } = settings.config;
  const check = new Check('MongoDB');
  const findings: Finding[] = [];
  let server: ExaminedServer | undefined;
  for (const { service, declared } of serviceBackups) {
    const config = storeOf(service, { MONGODB_URL: url, KITH_PREFIX: prefix });
    const own = new Check(`database ${service}`);
    try {
      const examined = await examineDocuments(config, declared);
      server ??= examined.server;
      tell(own, examined);
      if (service === 'identity') findings.push(...(await checkSecret(settings, config)));
    } catch (error) {
      const isRefused = /not authorized|unauthorized|requires authentication|authentication failed/i.test(
        sentenceOf(error),
      );
      if (!isRefused) {
        const mend =
          'Start MongoDB, and check that MONGODB_URL has its address, password and certificate authority.';
        check.wrong(`MongoDB at ${redactUrl(url)} does not answer: ${redactUrl(sentenceOf(error))}`, mend);
        return check.findings;
      }
      own.wrong(
        `The user of MONGODB_URL has no right to read ${prefix}_${service}: ${redactUrl(sentenceOf(error))}`,
        `Give it the role readWrite on ${prefix}_${service}, or set MONGODB_URL to a user that has it.`,
      );
    }
    findings.push(...own.findings);
  }
  if (server) tellServer(check, server);
  return [...check.findings, ...findings];
}

function tell(check: Check, { missing, damage }: Examined): void {
  if (damage) check.wrong(`It is damaged: ${damage}.`, 'Restore it from a backup (docs/backup.md).');
  if (missing.length > 0)
    check.wrong(
      `It lacks ${missing.join(', ')}. Without indexes, queries read every row, and unique keys are not checked.`,
      'Restart the service, which creates its indexes when it starts.',
    );
  if (!damage && missing.length === 0) check.ok('It is undamaged and has all its indexes.');
}

function tellServer(check: Check, { version, aheadMs, asksWho }: ExaminedServer): void {
  tellSkew(check, aheadMs);
  if (!asksWho)
    check.warn(
      'MongoDB accepts connections without credentials.',
      'Turn on authentication, and give each service a MONGODB_URL with a user of its own.',
    );
  if (check.findings.length === 0) check.ok(`MongoDB ${version}.`);
}

/** If a server's clock is too far off, reports by how much. */
export function tellSkew(check: Check, aheadMs: number): void {
  if (Math.abs(aheadMs) <= skewMs) return;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  check.wrong(
    `Its clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s.`,
    'Set both clocks, and synchronise them with chrony or systemd-timesyncd.',
  );
}
