import { type Running, runningIn } from '../../forms/running.ts';
import { type Command, Failure, notRunning, type Result } from '../command.ts';
import { folderConfig, folderOf } from '../data-folder.ts';
import { tableOf } from '../table.ts';

const patienceMs = 5_000;

/** A service, and what it still needs before it is ready. */
interface Service {
  name: string;
  internalUrl: string;
  isReady: boolean;
  missing: string[];
}

/** Shows which installation runs on the data folder, and what the `/readyz` of its processes report. */
export const statusCommand: Command = {
  name: 'status',
  summary: 'show whether the platform runs, at which address, and which services are ready',
  text: `Describes the platform that was started on the data folder of the current folder. Exit code 0 means that all services are ready,
1 that a service is not ready, 3 that nothing is running.`,
  reads: folderConfig,
  options: {},
  async run(_, { env }) {
    const dataFolder = folderOf(env);
    const running = runningIn(dataFolder);
    if (!running) {
      const failure = notRunning(dataFolder);
      return { value: { isRunning: false, dataFolder }, text: '', failure };
    }
    return resultOf(dataFolder, running, await servicesOf(running));
  },
};

function resultOf(dataFolder: string, running: Running, services: readonly Service[]): Result {
  const { url, form, version, pid, startedAt } = running;
  const late = services.filter(({ isReady }) => !isReady).map(({ name }) => name);
  const rows = [
    ...Object.entries({ address: url ?? 'starting', form, version, since: startedAt }),
    ...[['data folder', dataFolder] as const, ['process', String(pid)] as const],
  ];
  const lines = rows.map(([name, value]) => `${name.padEnd(11)}  ${value}\n`).join('');
  const table = tableOf(services, {
    service: ({ name }) => name,
    state: ({ isReady, missing }) => (isReady ? 'ready' : `not ready: ${missing.join(', ')}`),
    internal: ({ internalUrl }) => internalUrl,
  });
  const isReady = url !== undefined && late.length === 0;
  return {
    value: { isRunning: true, isReady, dataFolder, url, form, version, startedAt, pid, services },
    text: `${lines}\n${table}`,
    failure: isReady
      ? undefined
      : new Failure('not-ready', `Not ready: ${late.join(', ') || 'Kith is still starting'}.`),
  };
}

async function servicesOf({ services }: Running): Promise<Service[]> {
  const urls = [...new Set(Object.values(services))];
  const missing = new Map(await Promise.all(urls.map(async (url) => [url, await missingAt(url)] as const)));
  return Object.entries(services).map(([name, internalUrl]) => {
    // The embedded form gives one answer for all services. Each text in the answer begins with the name of the service that
    // lacks something.
    const own = missing.get(internalUrl)?.flatMap((what) => {
      const [first, rest] = what.split(': ');
      return rest === undefined ? what : first === name ? rest : [];
    });
    const lacks = own ?? [];
    return { name, internalUrl, isReady: lacks.length === 0, missing: lacks };
  });
}

/** What the process still needs before it is ready, as `/readyz` reports it. */
async function missingAt(url: string): Promise<string[]> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    const { missing = [] } = (await answer.json()) as { missing?: string[] };
    return missing;
  } catch {
    return ['no answer'];
  }
}
