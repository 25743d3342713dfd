import { hostname } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base/config';
import { z } from 'zod';
import about from '../../package.json' with { type: 'json' };
import { readIfThere } from '../read-if-there.ts';
import { isLocked } from './folder-lock.ts';
import { machineId } from './machine.ts';

const running = z.object({
  pid: z.int(),
  /** The name of the machine or container that the process runs on. */
  host: z.string(),
  /** The id of this machine or container. Missing in records of earlier versions, and on systems without such an id. */
  machine: z.string().optional(),
  version: z.string(),
  startedAt: z.iso.datetime(),
  form: z.enum(['embedded', 'distributed']),
  /** The address of the gateway. Missing until the gateway is up. */
  url: z.url().optional(),
  /** The address of the operators' endpoints, if they have a port of their own. */
  adminUrl: z.url().optional(),
  /** The internal address of each service and of the gateway. */
  services: z.record(z.string(), z.url()),
  /** How long the installation goes on serving after SIGTERM, in ms. Missing in records of earlier versions. */
  drainMs: z.int().optional(),
});
/** What a running installation has recorded in its data folder. */
export type Running = z.output<typeof running>;
/** The part of the record that a start has to supply. */
export type Announcement = Pick<Running, 'form' | 'url' | 'adminUrl' | 'services' | 'drainMs'>;

export const runningFile = 'running.json';

/** Makes the record of this process. */
export function runningNow(what: Announcement): Running {
  const startedAt = new Date(performance.timeOrigin).toISOString();
  const [host, machine] = [hostname(), machineId()];
  return { pid: process.pid, host, ...(machine && { machine }), version: about.version, startedAt, ...what };
}

/** Reads the record in a data folder, even if the process that wrote it has ended. */
export function readRunning(path: string): Running | undefined {
  const text = readIfThere(join(path, runningFile));
  return text === undefined ? undefined : running.safeParse(JSON.parse(text)).data;
}

/** Whether the distributed form runs on a data folder. */
export function runsDistributed(path: string): boolean {
  return isLocked(path) && readRunning(path)?.form === 'distributed';
}

/**
 * The installation that runs on a data folder, or `undefined`. The folder's lock ends with the process that holds it. So the
 * record of a killed process is ignored. Throws `StartError` if the process runs on another machine or in another container.
 */
export function runningIn(path: string): Running | undefined {
  if (!isLocked(path)) return undefined;
  const found = readRunning(path);
  if (found && !isHere(found))
    throw new StartError(`The installation in ${path} runs on ${found.host}. Run the command there.`);
  return found;
}

/** A laptop may get another host name from each network. So a machine is also recognized by its id. */
function isHere({ host, machine }: Running): boolean {
  return host === hostname() || (machine !== undefined && machine === machineId());
}
