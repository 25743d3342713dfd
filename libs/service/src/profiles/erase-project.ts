import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyCollection, Counters, Documents } from '@kith/store';

const batch = 1_000;

/** The documents of a project in a service. Their ids begin with the project's id. */
export interface OfProject {
  /**
   * The documents that the service erases when it receives the events about the deletion of the project's users. `eraseProject`
   * does not erase them. It checks whether any of them remain.
   */
  awaited: readonly AnyCollection[];
  /**
   * The copies of users, and the sums over users. They are useless when the users are erased, so `eraseProject` clears them.
   */
  cleared: readonly (AnyCollection | Counters)[];
}

/** Erases what is left of a deleted project. Returns `false` while documents of its users are still there (docs/adr/0044). */
export async function eraseProject(
  documents: Documents,
  projectId: string,
  { awaited, cleared }: OfProject,
): Promise<boolean> {
  // `}` is the character after `|`. So `<projectId>}` sorts directly after all ids that begin with `<projectId>|`, and the
  // range contains exactly these ids.
  const range = { above: `${projectId}|`, below: `${projectId}}` };
  for (const of of awaited) {
    if ((await documents.range(of, { ...range, limit: 1 })).length > 0) return false;
  }
  for (const of of cleared) {
    // In the embedded form, `clear` does not yield to the event loop. This pause lets the process handle requests.
    while ((await documents.clear(of, { ...range, limit: batch })) > 0) await nextTurn();
  }
  return true;
}
