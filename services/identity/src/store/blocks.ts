/** Whether one user blocks another, with the order of the event that told it (`eventOrder`). */
export interface Block {
  projectId: string;
  blockerId: string;
  blockedId: string;
  isBlocked: boolean;
  seq: number;
}

/** The own copy of the blocks, which connections owns. */
export interface BlockStore {
  /** Keeps what is told of a block, unless what is held is as new or newer. */
  keep(block: Block): Promise<void>;
  /** Whom a user does not get to see: those it blocks and those who block it. */
  hiddenFrom(projectId: string, userId: string): Promise<string[]>;
  /** Forgets every block of and by a user. */
  forget(projectId: string, userId: string): Promise<void>;
}

/** A block as two rows, one for the list of each of the two. `by` is the block of the row's owner. */
export function rowsOf({ projectId, blockerId, blockedId }: Block): { key: string; otherId: string }[] {
  return [
    { key: `${projectId}|${blockerId}|by|${blockedId}`, otherId: blockedId },
    { key: `${projectId}|${blockedId}|of|${blockerId}`, otherId: blockerId },
  ];
}

/** The keys that a user's rows lie between. */
export function rangeOf(projectId: string, userId: string): { from: string; to: string } {
  // The character after the bar.
  return { from: `${projectId}|${userId}|`, to: `${projectId}|${userId}}` };
}

/** The key of the other user's row for the same block. */
export function mirrorOf(key: string): string {
  const [projectId, userId, side, otherId] = key.split('|');
  return `${projectId}|${otherId}|${side === 'by' ? 'of' : 'by'}|${userId}`;
}
