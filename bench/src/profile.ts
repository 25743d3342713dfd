import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

/** The parts of a process's busy time, as shares, largest first. */
export type Shares = [where: string, share: number][];

/** How much time at the beginning is left out, in µs, because the process is still starting. */
const skipped = 2_000_000;

/**
 * Reads the newest CPU profile in a folder, and adds up the times of each package. V8 takes samples by the clock. So if a
 * system call wakes another process, and that process then runs on this core, the call seems to last until the profiled process
 * runs again.
 */
export function readProfile(folder: string): Shares {
  const name = readdirSync(folder)
    .filter((file) => file.endsWith('.cpuprofile'))
    .toSorted()
    .at(-1);
  if (!name) return [];
  const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
  const places = placesOf(profile);
  const sums = new Map<string, number>();
  let busy = 0;
  let passed = 0;
  for (const [at, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[at] ?? 0;
    passed += micros;
    const place = places.get(id) ?? '';
    if (passed < skipped || place === 'idle') continue;
    busy += micros;
    sums.set(place, (sums.get(place) ?? 0) + micros);
  }
  return [...sums]
    .map(([place, micros]): [string, number] => [place, micros / busy])
    .toSorted((a, b) => b[1] - a[1]);
}

/**
 * The package that each node of a profile belongs to. A node of native code or of Node's own code counts as part of the package
 * that called it.
 */
function placesOf({ nodes }: CpuProfile): Map<number, string> {
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const places = new Map<number, string>();
  for (const { id, callFrame } of nodes) {
    const { functionName, url } = callFrame;
    if (functionName === '(idle)') places.set(id, 'idle');
    else if (functionName === '(garbage collector)') places.set(id, 'garbage collection');
    else {
      const isWrite = !url && /^write/.test(functionName);
      let at: number | undefined = id;
      let place: string | undefined;
      while (at !== undefined && place === undefined) {
        place = partOf(byId.get(at)?.callFrame.url ?? '');
        at = parents.get(at);
      }
      places.set(id, `${place ?? 'Node itself'}${isWrite ? ', system calls that write' : ''}`);
    }
  }
  return places;
}

function partOf(url: string): string | undefined {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (library) return library;
  const own = /\/(services|libs|apps)\/([^/]+)\//.exec(url)?.[2];
  if (own) return `@kith/${own === 'kith' ? 'platform' : own}`;
  return url.startsWith('node:_http') ? "Node's HTTP" : undefined;
}
