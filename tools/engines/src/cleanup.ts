import { execFileSync } from 'node:child_process';
import { hostname } from 'node:os';
import { isProcessAlive } from '@kith/base/config';
import { onExit } from 'signal-exit';
import { docker } from './docker.ts';

/** The label with the id of the process that owns a container. It distinguishes abandoned containers from containers in use. */
export const ownerLabel = 'org.kith.owner';
export const owner = `${hostname()}:${process.pid}`;

/**
 * Whether the process that is named by a label is alive. A process on another machine counts as alive, because it cannot be
 * checked.
 */
export function isAlive(label: string): boolean {
  const [host, pid] = label.split(':');
  // This machine cannot see processes on another machine. The other machine removes their containers.
  return host !== hostname() || isProcessAlive(Number(pid));
}

const tracked = new Set<string>();
let forget: (() => void) | undefined;

/** Removes containers when this process ends, unless {@link removeContainers} has removed them before. */
export function removeAtExit(containers: readonly string[]): void {
  // testcontainers uses signal-exit. On a signal, signal-exit ends the process only if no other code listens to this signal. If
  // this file added a listener of its own, nobody would end the process. So this file uses signal-exit, too.
  forget ??= onExit(removeTracked);
  for (const container of containers) tracked.add(container);
}

/** Removes containers with their unnamed volumes. Skips containers that do not exist. */
export async function removeContainers(containers: readonly string[]): Promise<void> {
  await docker(['rm', '-f', '-v', ...containers]);
  for (const container of containers) tracked.delete(container);
  if (tracked.size > 0) return;
  forget?.();
  forget = undefined;
}

/** Removes the test containers that killed processes have left behind. */
export async function removeOrphans(): Promise<void> {
  const format = `{{.Names}} {{.Label "${ownerLabel}"}}`;
  const filter = `label=${ownerLabel}`;
  const { stdout } = await docker([
    'ps',
    '-a',
    '--filter',
    'name=^kith-test-',
    '--filter',
    filter,
    '--format',
    format,
  ]);
  const rows = stdout.split('\n').map((line) => line.split(' '));
  const orphans = rows.flatMap(([name, label]) => (name && label && !isAlive(label) ? [name] : []));
  if (orphans.length > 0) await removeContainers(orphans);
}

function removeTracked(): void {
  if (tracked.size === 0) return;
  try {
    execFileSync('docker', ['rm', '-f', '-v', ...tracked], { stdio: 'ignore', timeout: 30_000 });
  } catch {
    // The next start removes the containers that are left.
  }
  tracked.clear();
}
