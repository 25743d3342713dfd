import type { AnyCollection, Counters, Documents } from '@kith/store';

const batch = 1_000;

/** What a service has under the id of a project, which its documents' ids begin with. */
export interface OfProject {
  /** Erased with the users, by their events: nothing is done but to look whether any is left. */
  awaited: readonly AnyCollection[];
  /** Cleared: copies and sums that say nothing without the users. */
  cleared: readonly (AnyCollection | Counters)[];
}

/** Erases what is left of a deleted project; `false` while what goes with its users is still there (docs/adr/0044). */
export async function eraseProject(
  documents: Documents,
  projectId: string,
  { awaited, cleared }: OfProject,
): Promise<boolean> {
  // `}` follows `|`.
  const range = { above: `${projectId}|`, below: `${projectId}}` };
  for (const of of awaited) {
    if ((await documents.range(of, { ...range, limit: 1 })).length > 0) return false;
  }
  for (const of of cleared) {
    while ((await documents.clear(of, { ...range, limit: batch })) > 0);
  }
  return true;
}
