import type { ErrorCode } from '@kith/contracts';
import { redirectOf } from '../../demo/api.ts';
import { type Running, runningIn } from '../../forms/running.ts';
import { version } from '../version.ts';
import { tellSkew } from './databases.ts';
import { Check, type Finding, sentenceOf } from './finding.ts';

const patienceMs = 5_000;

/** Checks the platform that runs on the data folder. Relies on what the platform reports about itself. */
export async function checkRunning(path: string): Promise<Finding[]> {
  const check = new Check('platform');
  let running: Running | undefined;
  try {
    running = runningIn(path);
  } catch (error) {
    check.warn(sentenceOf(error), 'Run kith doctor on that machine, too.');
    return check.findings;
  }
  if (!running) {
    check.warn(
      `No Kith is running on ${path}.`,
      'Start it with kith start, or with its systemd unit (docs/hosting.md).',
    );
    return check.findings;
  }
  if (running.version !== version)
    check.warn(
      `It runs version ${running.version}, and ${version} is installed.`,
      'Restart it (docs/upgrading.md).',
    );
  const missing = new Set<string>();
  for (const url of new Set(Object.values(running.services)))
    for (const what of await missingAt(url)) missing.add(what);
  if (running.url === undefined && missing.size === 0) missing.add('Kith is still starting');
  if (missing.size > 0)
    check.wrong(`It is not ready: ${[...missing].join(', ')}.`, 'Look at its log, which says why.');
  if (check.findings.length === 0) check.ok(`It is ready at ${running.url}.`);
  return check.findings;
}

async function missingAt(url: string): Promise<string[]> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    return ((await answer.json()) as { missing?: string[] }).missing ?? [];
  } catch {
    return [`no answer from ${url}`];
  }
}

/** Checks whether clients reach Kith at its public address. */
export async function checkAddress(address: string): Promise<Finding[]> {
  const check = new Check('address');
  const mend = 'Check that PUBLIC_URL is the address of Kith, and that the proxy in front forwards to PORT.';
  try {
    const asked = Date.now();
    const answer = await fetch(`${address}/v7/x`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    });
    const other = redirectOf(answer, address);
    if (other !== undefined) {
      check.wrong(
        `${address} redirects to ${other}.`,
        'Set PUBLIC_URL to the address at which Kith answers.',
      );
      return check.findings;
    }
    const { code } = (await answer.json().catch(() => ({}))) as { code?: unknown };
    if (code !== ('project/invalid-id' satisfies ErrorCode)) {
      check.wrong(`The server at ${address} is not Kith (status ${answer.status}).`, mend);
      return check.findings;
    }
    // The header gives only whole seconds. So the server's clock is on average half a second ahead of the header.
    const said = Date.parse(answer.headers.get('date') ?? '');
    if (!Number.isNaN(said)) tellSkew(check, said + 500 - (asked + Date.now()) / 2);
    if (check.findings.length === 0) check.ok(`Kith answers at ${address}.`);
  } catch (error) {
    check.wrong(`Nothing answers at ${address}: ${sentenceOf((error as Error).cause ?? error)}`, mend);
  }
  return check.findings;
}
