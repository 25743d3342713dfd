import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Identifies a machine until its next restart. On Linux, it also identifies a container. Two processes that get the same id see
 * the same processes under the same process ids, and reach the same programs at `127.0.0.1`. Unlike the host name, the id does
 * not change when the machine joins another network. `undefined` if the system has no such id.
 */
export function machineId(): string | undefined {
  try {
    if (process.platform === 'darwin') {
      const words = ['-n', 'kern.bootsessionuuid'];
      return execFileSync('/usr/sbin/sysctl', words, { encoding: 'utf8' }).trim() || undefined;
    }
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return [boot, ...['pid', 'net'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`))].join(' ');
  } catch {
    return undefined;
  }
}
