import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base';
import { isDamage } from './check-whole.ts';
import type { DataFolder } from './data-folder.ts';
import { tablesOf } from './tables-of.ts';

/** A record in each file. It says to which installation the file belongs. */
interface Stamp {
  id: string;
  /** The file's own name in the installation. */
  file: string;
  /** The names of all files. Empty while the files are being stamped for the first time. */
  files: string[];
}

type Found = Stamp | 'missing' | 'empty' | 'unstamped' | 'restored';

/**
 * Checks that the data files of a folder are all files of one installation, and refuses the folder otherwise. No file may be
 * missing, empty, damaged, from another installation, or under the name of another file. If a folder with such a file were
 * accepted, the service of this file would begin without its data. Other services would still use their copies of the data.
 * Throws `StartError`. Accepts a folder of an old version, which did not stamp its files. Call `stamp` as soon as all files are
 * there.
 */
export function checkInstallation(folder: DataFolder, names: readonly string[]): { stamp(): void } {
  const found = new Map(names.map((name) => [name, stampOf(folder, name)]));
  const stamps = [...found.values()].filter((one) => typeof one === 'object');
  const id = mostOf(stamps.map((stamp) => stamp.id)) ?? randomUUID();
  const needed = new Set(stamps.filter((stamp) => stamp.id === id).flatMap(({ files }) => files));
  for (const [name, one] of found) {
    const wrong = wrongWith(one, { id, name, isNeeded: needed.has(name) });
    if (wrong) throw refusal(folder, name, wrong);
  }
  return {
    stamp() {
      // The process may die between two writes. So all files get the id before the first file lists all names.
      for (const files of [[], names]) {
        for (const name of names) writeStamp(folder, { id, file: name, files: [...files] });
      }
    },
  };
}

function wrongWith(one: Found, of: { id: string; name: string; isNeeded: boolean }): string | undefined {
  if (typeof one === 'object') {
    if (one.id !== of.id) return 'belongs to another installation';
    return one.file === of.name ? undefined : `holds the data of ${one.file}`;
  }
  if (!of.isNeeded || one === 'restored') return undefined;
  return one === 'unstamped' ? 'does not belong to this installation' : `is ${one}`;
}

function refusal(folder: DataFolder, name: string, wrong: string, cause?: unknown): StartError {
  return new StartError(
    `${name} in the data folder ${folder.path} ${wrong}. Restore it from a backup (see docs/upgrading.md), or set KITH_DATA to an empty folder to start without data.`,
    { cause },
  );
}

function stampOf(folder: DataFolder, name: string): Found {
  const path = folder.file(name);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (!size) return size === undefined ? 'missing' : 'empty';
  try {
    using db = new DatabaseSync(path, { timeout: 5_000 });
    const tables = tablesOf(db);
    if (tables.has('installation')) {
      const row = db.prepare('SELECT id, file, files FROM installation').get();
      if (row) return { ...(row as unknown as Stamp), files: JSON.parse(row.files as string) };
    }
    // This may be a backup from a version that did not stamp files. Such a backup is accepted if `kith restored` has noted that
    // it was restored.
    const epoch = tables.has('facts') && db.prepare("SELECT value FROM facts WHERE name = 'epoch'").get();
    return epoch && JSON.parse(epoch.value as string).isNew ? 'restored' : 'unstamped';
  } catch (error) {
    const said = (error as Error).message;
    if (isDamage(error)) throw refusal(folder, name, `is damaged (${said})`, error);
    throw new StartError(
      `${name} in the data folder ${folder.path} cannot be opened (${said}). Check its owner and mode, its disk, and whether another program uses it.`,
      { cause: error },
    );
  }
}

function writeStamp(folder: DataFolder, { id, file, files }: Stamp): void {
  using db = new DatabaseSync(folder.file(file), { timeout: 5_000 });
  db.exec(
    'CREATE TABLE IF NOT EXISTS installation (id TEXT NOT NULL, file TEXT NOT NULL, files TEXT NOT NULL)',
  );
  const text = JSON.stringify(files);
  const stored = db.prepare('SELECT files FROM installation').get();
  if (!stored) db.prepare('INSERT INTO installation (id, file, files) VALUES (?, ?, ?)').run(id, file, text);
  else if (files.length > 0 && stored.files !== text)
    db.prepare('UPDATE installation SET files = ?').run(text);
}

/** The most frequent value. If several values are equally frequent, returns the first of these values. */
function mostOf(all: readonly string[]): string | undefined {
  const counts = Map.groupBy(all, (one) => one);
  return [...counts].toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0];
}
