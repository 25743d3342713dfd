import { randomUUID } from 'node:crypto';
import type { SQLInputValue } from 'node:sqlite';
import { StartError } from '@kith/base';
import type { MovedTable, ServiceMove } from '@kith/store/open';
import type { DataFolder } from '../../forms/data-folder.ts';
import { serviceMoves } from '../../services.ts';
import { version } from '../version.ts';
import { Checksum, isFirm } from './checksum.ts';
import { handOver } from './hand-over.ts';
import type { Source } from './source.ts';
import {
  fingerprint,
  isBegun,
  isHandedOver,
  type MovedCount,
  type MoveState,
  readState,
  writeState,
} from './state.ts';
import type { Target } from './target.ts';

/**
 * A document that expires within this time, in ms, is not compared, because one of the two places may remove it during the
 * comparison.
 */
const soonMs = 5 * 60_000;

/**
 * Copies everything, and continues where the last run stopped. Calls `copyFiles` only after it has claimed all databases. So if
 * another platform uses a database, no files get to that platform. Then compares the counts and checksums of every collection.
 * Throws `StartError` if the counts or checksums of the two places differ. Also throws it if a database already holds other
 * data, or if a move to that database has already ended. Calls `progress` after each step.
 */
export async function moveData(
  parts: {
    folder: DataFolder;
    source: Source;
    target: Target;
    prefix: string;
    copyFiles?: () => Promise<void>;
  },
  progress: (line: string) => void,
): Promise<MovedCount[]> {
  const { folder, source, target, prefix } = parts;
  const kept = readState(folder, prefix);
  if (kept?.counts && isHandedOver(folder, kept)) {
    return handOver(parts, { ...kept, counts: kept.counts }, progress);
  }
  const state: MoveState = kept ?? {
    ...{ move: randomUUID(), prefix, version, files: '', tables: {}, isFinished: false },
  };
  for (const move of serviceMoves) source.check(move);
  writeState(folder, state);
  for (const move of serviceMoves) await target.claim(move, state.move);
  if (!isBegun(folder, state)) {
    for (const move of serviceMoves) await target.clear(move);
    Object.assign(state, { files: fingerprint(folder), version, tables: {}, counts: undefined });
    writeState(folder, state);
  }
  await parts.copyFiles?.();
  for (const move of serviceMoves) {
    for (const table of move.tables) await copyTable(parts, state, move, table, progress);
    await target.put(move.service, 'events', source.deadBeyond(move));
  }
  const counts: MovedCount[] = [];
  for (const move of serviceMoves) counts.push(...(await compare(parts, move)));
  state.counts = counts;
  writeState(folder, state);
  progress('counts and checksums match');
  return handOver(parts, { ...state, counts }, progress);
}

async function copyTable(
  { folder, source, target }: { folder: DataFolder; source: Source; target: Target },
  state: MoveState,
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
    writeState(folder, state);
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
        `${collection} of ${move.service} differs: ${wanted.count} rows in the folder, ${found.count} in the database.`,
      );
    }
    counts.push({ service: move.service, collection, documents: found.count });
  }
  return counts;
}
