import { execFileSync } from 'node:child_process';
import { hostname } from 'node:os';
import { isProcessAlive } from '@kith/base/config';
import { onExit } from 'signal-exit';
import { docker } from './docker.ts';

/** Says whose a container is, so that one whose process is gone can be told from one in use. */
export const ownerLabel = 'org.kith.owner';
export const owner = `${hostname()}:${process.pid}`;

/** Tells whether the process a label names is one of this machine and alive. */
export function isAlive(label: string): boolean {
  const [host, pid] = label.split(':');
  // Another machine's processes can't be seen from here; theirs are theirs to remove.
  return host !== hostname() || isProcessAlive(Number(pid));
}

const tracked = new Set<string>();
let forget: (() => void) | undefined;

/** Has containers removed when this process ends, unless {@link removeContainers} has done so before. */
export function removeAtExit(containers: readonly string[]): void {
  // testcontainers brings signal-exit, whose listeners leave a signal alone when they see one that is not theirs:
  // one of our own beside them, and nobody would end the process.
  forget ??= onExit(removeTracked);
  for (const container of containers) tracked.add(container);
}

/** Removes containers with their unnamed volumes; those that are not there are passed over. */
export async function removeContainers(containers: readonly string[]): Promise<void> {
  await docker(['rm', '-f', '-v', ...containers]);
  for (const container of containers) tracked.delete(container);
  if (tracked.size > 0) return;
  forget?.();
  forget = undefined;
}

/** Removes the test containers of processes that were killed before they could do so. */
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
    // The next start removes what is left.
  }
  tracked.clear();
}
