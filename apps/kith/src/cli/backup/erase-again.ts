import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { derivedId, type Logger, StartError } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { eventSubject, userDeleted } from '@kith/contracts';
import { deleteProjectsAgain, type ErasureNote, erasureNote } from '@kith/identity';
import { makeEvent } from '@kith/service';

/** How each line of a list of erasures begins. */
const start = '{"projectId":"';

/** Reads a list of erasures. Leaves out the notes that were withdrawn. Throws `StartError`. */
export function readErasures(path: string): ErasureNote[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartError(`${path} cannot be read.`, { cause: error });
  }
  const notes = text.split('\n').flatMap((line, at) => {
    // If the file was edited on Windows, its lines may end with \r\n.
    const entry = line.trim();
    // An incomplete entry means that a process died while it wrote the entry. The process had not yet erased the user or
    // project in the entry, so the entry is ignored. Other processes may have added entries after the incomplete one.
    if (start.startsWith(entry) || (entry.startsWith(start) && !entry.includes('}'))) return [];
    try {
      return [erasureNote.parse(JSON.parse(entry))];
    } catch (error) {
      throw new StartError(`${path}, line ${at + 1} is not a valid erasure entry.`, { cause: error });
    }
  });
  const withdrawn = new Set(notes.flatMap(({ withdraws }) => withdraws ?? []));
  return notes.filter(({ id = '', withdraws }) => withdraws === undefined && !withdrawn.has(id));
}

/** Writes a list of erasures to a new file. The restored installation then adds its own erasures to this file. */
export function writeErasures(path: string, erased: readonly ErasureNote[]): Promise<void> {
  const lines = erased.map((note) => `${JSON.stringify(note)}\n`);
  return writeFile(path, lines.join(''), { mode: 0o600, flush: true });
}

/**
 * Makes a restored installation erase users again. Identity handles these users as if it had announced their erasure before the
 * restore (docs/adr/0028).
 */
export async function eraseAgain(
  erased: readonly ErasureNote[],
  { file, prefix, log }: { file: string; prefix: string; log: Logger },
): Promise<void> {
  const bus = new InProcessBus({ prefix, file, log });
  try {
    for (const { projectId, userId, at } of erased) {
      if (userId === undefined) continue;
      const event = makeEvent(userDeleted, {
        projectId,
        actorId: null,
        aggregate: { type: 'user', id: userId, seq: 1 },
        data: { id: userId },
        occurredAt: new Date(at),
      });
      const id = derivedId('erased', projectId, userId);
      const body = new TextEncoder().encode(JSON.stringify({ ...event, id }));
      await bus.publish({ subject: eventSubject(prefix, event), id, body });
    }
  } finally {
    await bus.close();
  }
}

/** Deletes the listed projects again. Once the installation runs, it erases the data of these projects. */
export function deleteAgain(erased: readonly ErasureNote[], file: string): Promise<void> {
  const projects = erased.filter(({ userId }) => userId === undefined);
  return deleteProjectsAgain(
    { kind: 'sqlite', file },
    projects.map(({ projectId }) => projectId),
  );
}
