import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The size of each log file of a platform, by its name. */
export type LogSizes = ReadonlyMap<string, number>;

export async function sizesOfLogs(folder: string): Promise<LogSizes> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return new Map(names.map((name, index) => [name, sizes[index] ?? 0]));
}

/** Reads all logs in a folder. If `from` has an earlier size of a log, reads this log only from there on. */
export async function readLogs(folder: string, from: LogSizes = new Map()): Promise<string> {
  const names = await readdir(folder);
  const read = async (name: string) => {
    await using file = await open(join(folder, name));
    return await file.createReadStream({ start: from.get(name) ?? 0, encoding: 'utf8' }).toArray();
  };
  return (await Promise.all(names.map(read))).flat().join('');
}
