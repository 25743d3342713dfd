import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import type { DataFolder } from '@kith/platform';
import { type MovedTable, type ServiceMove, StartError } from '@kith/service';
import { z } from 'zod';
import { Checksum, isFirm } from './checksum.ts';
import { serviceMoves } from './services.ts';
import type { Source } from './source.ts';
import type { Target } from './target.ts';

const shape = z.object({
  move: z.string(),
  prefix: z.string(),
  /** The data files as they were when copying began: with others it begins anew. */
  files: z.string(),
  /** By service and table: the key of the last row that is there, and whether it was the last of all. */
  tables: z.record(
    z.string(),
    z.object({ last: z.array(z.union([z.string(), z.number()])), isDone: z.boolean() }),
  ),
});
type State = z.output<typeof shape>;

const stateFile = 'move.json';
/** What expires so soon may be gone before it is counted. */
const soonMs = 5 * 60_000;

/** What was moved of a collection. */
export interface MovedCount {
  service: string;
  collection: string;
  documents: number;
}

/** Whether copying has begun, and the data has not been touched since. */
export function hasBegun(folder: DataFolder): boolean {
  return readState(folder)?.files === fingerprint(folder);
}

/**
 * Copies everything, from where it stopped the last time, then compares counts and checksums of every collection. Throws
 * `StartError` where they differ, and where the databases are not free for it.
 */
export async function moveData(
  parts: { folder: DataFolder; source: Source; target: Target; prefix: string },
  progress: (line: string) => void,
): Promise<MovedCount[]> {
  const { folder, source, target, prefix } = parts;
  const kept = readState(folder);
  if (kept && kept.prefix !== prefix) {
    throw new StartError(
      `A move to the prefix ${kept.prefix} has begun; go on with that, or remove ${folder.file(stateFile)}.`,
    );
  }
  const files = fingerprint(folder);
  const state = kept ?? { move: randomUUID(), prefix, files: '', tables: {} };
  for (const move of serviceMoves) source.check(move);
  folder.write(stateFile, JSON.stringify(state));
  for (const move of serviceMoves) await target.claim(move, state.move);
  if (state.files !== files) {
    for (const move of serviceMoves) await target.clear(move);
    Object.assign(state, { files, tables: {} });
    folder.write(stateFile, JSON.stringify(state));
  }
  for (const move of serviceMoves) {
    for (const table of move.tables) await copyTable(parts, state, move, table, progress);
    await target.put(move.service, 'events', source.deadBeyond(move));
  }
  const counts: MovedCount[] = [];
  for (const move of serviceMoves) counts.push(...(await compare(parts, move)));
  await target.finish(serviceMoves.map(({ service }) => service));
  return counts;
}

async function copyTable(
  { folder, source, target }: { folder: DataFolder; source: Source; target: Target },
  state: State,
  move: ServiceMove,
  table: MovedTable,
  progress: (line: string) => void,
): Promise<void> {
  const name = `${move.service}.${table.table}`;
  const known = state.tables[name];
  if (known?.isDone) return;
  let count = 0;
  let last: readonly SQLInputValue[] = known?.last ?? [];
  const keep = (isDone: boolean) => {
    state.tables[name] = { last: last as (string | number)[], isDone };
    folder.write(stateFile, JSON.stringify(state));
  };
  for (const some of source.documents(move, table, known?.last)) {
    await target.put(move.service, table.collection, some.documents);
    last = some.last;
    count += some.documents.length;
    keep(false);
  }
  keep(true);
  progress(`${name}: ${count} rows`);
}

async function compare(
  { source, target }: { source: Source; target: Target },
  move: ServiceMove,
): Promise<MovedCount[]> {
  const firmAt = Date.now() + soonMs;
  const counts: MovedCount[] = [];
  for (const [collection, tables] of Map.groupBy(move.tables, (table) => table.collection)) {
    const wanted = new Checksum();
    const add = (documents: Iterable<Parameters<Checksum['add']>[0]>) => {
      for (const document of documents) if (isFirm(document, firmAt)) wanted.add(document);
    };
    for (const table of tables) for (const { documents } of source.documents(move, table)) add(documents);
    if (collection === 'events') add(source.deadBeyond(move));
    const found = await target.checksum(move.service, collection, firmAt);
    if (found.count !== wanted.count || found.sum !== wanted.sum) {
      throw new StartError(
        `${collection} of ${move.service} is not the same in both places: ${wanted.count} and ${found.count} rows.`,
      );
    }
    counts.push({ service: move.service, collection, documents: found.count });
  }
  return counts;
}

function readState(folder: DataFolder): State | undefined {
  const text = folder.read(stateFile);
  return text === undefined ? undefined : shape.parse(JSON.parse(text));
}

/** Tells the data files from those before any write. Nobody has them open then, so that all of it is in the files. */
function fingerprint(folder: DataFolder): string {
  return ['events', ...serviceMoves.map(({ service }) => service)]
    .map((name) => statSync(folder.file(`${name}.sqlite`)))
    .map(({ size, mtimeMs }) => `${size}:${mtimeMs}`)
    .join(' ');
}
