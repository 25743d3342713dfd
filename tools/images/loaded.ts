import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import type { Lock } from '../bootstrap/sizes.mjs';
import { importsOf } from '../walls/imports.ts';

/** Imports and exports of types only. Node removes them before it loads anything. */
const ofTypes = /^(?:import|export) type\b[^;]*;|\btypeof import\(/gm;
/** Files that are started as threads. */
const threads = /new URL\(\s*'(\.[^']+\.ts)', import\.meta\.url/g;

/**
 * Starts from the files `entries`, and returns the texts of all our sources that these files may load, at their start or later. The
 * keys are the paths of the sources. The sources of threads are included.
 */
export function loadedBy(root: string, { packages }: Lock, entries: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  const load = (file: string): void => {
    if (texts.has(file)) return;
    const text = readFileSync(join(root, file), 'utf8').replaceAll(ofTypes, '');
    texts.set(file, text);
    for (const name of [
      ...importsOf(file, text).map((one) => one.name),
      ...[...text.matchAll(threads)].map(([, name = '']) => name),
    ]) {
      if (name.startsWith('.')) load(join(dirname(file), name));
      else if (name.startsWith('@kith/')) load(entryOf(root, packages, name));
    }
  };
  for (const entry of entries) load(entry);
  return texts;
}

/** The file that an import of ours names. For example, `@kith/store/open` is `libs/store/src/open.ts`. */
function entryOf(root: string, packages: Lock['packages'], name: string): string {
  const [, own = '', ...rest] = name.split('/');
  const folder = packages[`node_modules/@kith/${own}`]?.resolved;
  const exported = folder && JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).exports;
  const file: string | undefined = exported?.[['.', ...rest].join('/')];
  if (!folder || !file) throw new Error(`No package exports ${name}.`);
  return join(folder, file);
}
