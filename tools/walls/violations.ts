import { dirname, join, normalize } from 'node:path/posix';
import { type Import, importsOf } from './imports.ts';
import { around, drivers, folders, packages, type Room, shared, suites } from './table.ts';

/** An import that the table does not allow, with a sentence that says what to import instead. */
export interface Violation {
  file: string;
  line: number;
  sentence: string;
}

/**
 * Finds imports that the tables of `table.ts` do not allow, and files that import each other in a circle. The keys of `files`
 * are the paths of the sources, and the values are their texts.
 */
export function violationsOf(files: ReadonlyMap<string, string>): Violation[] {
  const imports = [...files].flatMap(([file, text]) => importsOf(file, text));
  return [...imports.flatMap(walked), ...circles(imports.filter(({ name }) => name.startsWith('.')))];
}

function walked({ file, line, name }: Import): Violation[] {
  const home = homeOf(file);
  const room = rooms[home];
  if (!room) return [];
  const refuse = (sentence: string) => [{ file, line, sentence }];
  if (name.startsWith('@kith/')) {
    return mayOf(file, home, room).some((one) => fits(name, one))
      ? []
      : refuse(`${name} is not for ${home}. ${room.instead}`);
  }
  if (name.startsWith('.')) {
    const target = normalize(join(dirname(file), name));
    if (homeOf(target) !== home) {
      if (reachesOf(file, room).some((one) => target.startsWith(one))) return [];
      return refuse(`${name} leaves ${home}. Import a package by its name, and use only what it exports.`);
    }
    if (isSuite(file) || !target.startsWith(`${home}/src/`)) return [];
    const [from, to] = [folderOf(file), folderOf(target)];
    const may = folders[home]?.[from];
    if (from === to || !folders[home]) return [];
    if (!may) return refuse(`${from} is not in the table of ${home}. Add it to tools/walls/table.ts.`);
    if (!may.includes(to)) {
      const whom = to === '' ? 'the files beside the folders' : `${to}/`;
      return refuse(
        `${from}/ of ${home} may not import ${whom}. It may import ${may.join(', ') || 'no other folder'}.`,
      );
    }
    return [];
  }
  if (!packages[home] || isSuite(file)) return [];
  const driver = drivers.find(
    (one) => name === one.name || name.startsWith(one.name.endsWith('/') ? one.name : `${one.name}/`),
  );
  if (driver && !driver.only.includes(home)) return refuse(`${name} is not for ${home}. ${driver.instead}`);
  return [];
}

const rooms: Readonly<Record<string, Room>> = { ...packages, ...around };

/** The packages that a file may import. A test may also import its own package, and the packages that all tests may import. */
function mayOf(file: string, home: string, { may, suites: more = [] }: Room): readonly string[] {
  return isSuite(file) ? [...may, ...suites, ...more, ...own(home)] : may;
}

/** A package's own names: `@kith/store` and its entries. `apps/kith` is `@kith/platform`. */
function own(home: string): string[] {
  const name = `@kith/${home === 'apps/kith' ? 'platform' : home.split('/').at(-1)}`;
  return [name, `${name}/*`];
}

function reachesOf(file: string, { reaches = [] }: Room): readonly string[] {
  return isSuite(file) ? [...reaches, shared] : reaches;
}

function fits(name: string, entry: string): boolean {
  return entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry;
}

/** Whether a file of a package is a test, or belongs to a test. */
function isSuite(file: string): boolean {
  return file.endsWith('.test.ts') || !file.startsWith(`${homeOf(file)}/src/`);
}

/**
 * Files that import each other in a circle. Imports of types are included. A circle is reported once, at the import that closes
 * it.
 */
function circles(imports: readonly Import[]): Violation[] {
  const next = new Map<string, { to: string; line: number }[]>();
  for (const { file, line, name } of imports) {
    next.set(file, [...(next.get(file) ?? []), { to: normalize(join(dirname(file), name)), line }]);
  }
  const found: Violation[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (done.has(file)) return;
    for (const { to, line } of next.get(file) ?? []) {
      const at = to === file ? path.length : path.indexOf(to);
      if (at >= 0) {
        const circle = [...path.slice(at), file, to].join(' → ');
        found.push({
          file,
          line,
          sentence: `files import each other in a circle: ${circle}. Move what they share into a file of its own.`,
        });
      } else walk(to, [...path, file]);
    }
    done.add(file);
  };
  for (const file of next.keys()) walk(file, []);
  return found;
}

/** The room of a file, for example `libs/store` for a file in its `src` or its `tests`. '' if the file is in no room. */
function homeOf(file: string): string {
  const [kind = '', name] = file.split('/');
  return rooms[`${kind}/${name}`] ? `${kind}/${name}` : rooms[kind] ? kind : '';
}

/** The folder of `src` that holds a file. '' for a file beside the folders. */
function folderOf(file: string): string {
  return /\/src\/([^/]+)\//.exec(file)?.[1] ?? '';
}
