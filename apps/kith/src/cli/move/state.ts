import { statSync } from 'node:fs';
import { StartError } from '@kith/base';
import { isMoved } from '@kith/store/sqlite';
import { z } from 'zod';
import type { DataFolder } from '../../forms/data-folder.ts';
import { storingNames } from '../../services.ts';
import { version } from '../version.ts';

const count = z.object({ service: z.string(), collection: z.string(), documents: z.int() });
/** What was moved of a collection. */
export type MovedCount = z.output<typeof count>;

const shape = z.object({
  move: z.string(),
  prefix: z.string(),
  /** The version of Kith that copies: another one has other schemas, and starts again. */
  version: z.string().default(''),
  /** The data files as they were when copying began: with others it starts again. */
  files: z.string(),
  /** By service and table: the key of the last row that is there, and whether it was the last of all. */
  tables: z.record(
    z.string(),
    z.object({ last: z.array(z.union([z.string(), z.number()])), isDone: z.boolean() }),
  ),
  /** Set once both places were found to hold the same: what is left is to hand over. */
  counts: z.array(count).optional(),
  isFinished: z.boolean().default(false),
});
/** How far a move has come. */
export type MoveState = z.output<typeof shape>;

const stateFile = 'move.json';
/** Without their ending; that of the events is opened before the others. */
export const dataFiles = ['events', ...storingNames];

/** Reads how far the folder's move has come; nothing where none has begun. Throws `StartError`. */
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

/** Whether copying has begun, by this version, and the data has not been touched since. */
export function isBegun(folder: DataFolder, state: MoveState): boolean {
  return state.version === version && state.files === fingerprint(folder);
}

/** Whether all is copied and compared, and is so still: the first mark keeps everybody off, or nobody has been there. */
export function isHandedOver(folder: DataFolder, state: MoveState): boolean {
  return state.counts !== undefined && (isMoved(folder.file('events.sqlite')) || isBegun(folder, state));
}

/** Tells the data files from those before any write. Nobody has them open then, so that all of it is in the files. */
export function fingerprint(folder: DataFolder): string {
  return dataFiles
    .map((name) => statSync(folder.file(`${name}.sqlite`)))
    .map(({ size, mtimeMs }) => `${size}:${mtimeMs}`)
    .join(' ');
}
