import { statSync } from 'node:fs';
import { StartError } from '@kith/base';
import { isMoved } from '@kith/store/sqlite';
import { z } from 'zod';
import type { DataFolder } from '../../forms/data-folder.ts';
import { storingNames } from '../../services.ts';
import { version } from '../version.ts';

const count = z.object({ service: z.string(), collection: z.string(), documents: z.int() });
/** How many documents of a collection were moved. */
export type MovedCount = z.output<typeof count>;

const shape = z.object({
  move: z.string(),
  prefix: z.string(),
  /**
   * The version of Kith that copies the data. Another version may have other schemas. So if another version continues, copying
   * starts again.
   */
  version: z.string().default(''),
  /** The fingerprint of the data files when copying began. If the files have changed, copying starts again. */
  files: z.string(),
  /** By service and table: the key of the last copied row, and whether the whole table has been copied. */
  tables: z.record(
    z.string(),
    z.object({ last: z.array(z.union([z.string(), z.number()])), isDone: z.boolean() }),
  ),
  /** Set when a comparison has found the same data in both places. After that, the move only has to hand the data over. */
  counts: z.array(count).optional(),
  isFinished: z.boolean().default(false),
});
/** How far a move has come. */
export type MoveState = z.output<typeof shape>;

const stateFile = 'move.json';
/** The names of the data files, without `.sqlite`. The events' file comes first, because it is opened before the others. */
export const dataFiles = ['events', ...storingNames];

/** Reads how far the folder's move has come. Returns `undefined` if no move has begun. Throws `StartError`. */
export function readState(folder: DataFolder, prefix: string): MoveState | undefined {
  const text = folder.read(stateFile);
  if (text === undefined) return undefined;
  let state: MoveState;
  try {
    state = shape.parse(JSON.parse(text));
  } catch (error) {
    throw new StartError(
      `${folder.file(stateFile)} cannot be read. Drop the copied databases, remove the file, and move again.`,
      { cause: error },
    );
  }
  if (state.prefix === prefix) return state;
  throw new StartError(
    isHandedOver(folder, state)
      ? `The data was moved to the prefix ${state.prefix}.`
      : `A move to the prefix ${state.prefix} has begun. Continue with that prefix, or remove ${folder.file(stateFile)}.`,
  );
}

export function writeState(folder: DataFolder, state: MoveState): void {
  folder.write(stateFile, JSON.stringify(state));
}

/** Whether this version has begun to copy, and the data has not changed since then. */
export function isBegun(folder: DataFolder, state: MoveState): boolean {
  return state.version === version && state.files === fingerprint(folder);
}

/**
 * Whether all data was copied and compared, and has not changed since the comparison. The data cannot have changed if the files
 * are untouched, or if the mark in the events' file keeps platforms from opening the folder.
 */
export function isHandedOver(folder: DataFolder, state: MoveState): boolean {
  return state.counts !== undefined && (isMoved(folder.file('events.sqlite')) || isBegun(folder, state));
}

/**
 * A text that differs after any write to the data files. It is computed while nobody has the files open, so that the files hold all
 * data.
 */
export function fingerprint(folder: DataFolder): string {
  return dataFiles
    .map((name) => statSync(folder.file(`${name}.sqlite`)))
    .map(({ size, mtimeMs }) => `${size}:${mtimeMs}`)
    .join(' ');
}
