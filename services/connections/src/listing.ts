import { otherOf, type Pair } from './pair.ts';

/**
 * The lists of a user: established connections, sent requests, received requests, users whom this user blocks, and users who
 * block this user.
 */
export const lists = ['established', 'sent', 'received', 'blocks', 'blockedBy'] as const;
export type ListName = (typeof lists)[number];

/** A row in one list of one user. */
export interface Entry {
  projectId: string;
  ownerId: string;
  list: ListName;
  /** The id of the connection or of the block. */
  id: string;
  /** The other user of the connection, request or block. */
  userId: string;
  message: string | null;
  /** When the connection was requested, or when the block was made. */
  requestedAt: Date;
  /** When the connection was accepted. Null in every list except `established`. */
  connectedAt: Date | null;
}

/** How many rows each list of a user has. */
export type Totals = Record<ListName, number>;

/** The rows that belong to a pair. The connection or request has two rows, and each block has two rows. */
export function entriesOf(pair: Pair): Entry[] {
  return [...connectionEntries(pair), ...blockEntries(pair)];
}

function blockEntries(pair: Pair): Entry[] {
  return pair.blocks.flatMap(({ id, blockerId, at }) => {
    const { projectId } = pair;
    const common = { projectId, id, message: null, requestedAt: at, connectedAt: null };
    const blockedId = otherOf(pair, blockerId);
    return [
      { ...common, list: 'blocks' as const, ownerId: blockerId, userId: blockedId },
      { ...common, list: 'blockedBy' as const, ownerId: blockedId, userId: blockerId },
    ];
  });
}

function connectionEntries(pair: Pair): Entry[] {
  const { projectId, state, requesterId, receiverId, connectionId, message, requestedAt, respondedAt } = pair;
  const isListed = state === 'pending' || state === 'accepted';
  if (!isListed || !requesterId || !receiverId || !connectionId || !requestedAt) return [];
  const common = { projectId, id: connectionId, message, requestedAt };
  const sent = { ...common, ownerId: requesterId, userId: receiverId };
  const received = { ...common, ownerId: receiverId, userId: requesterId };
  if (state === 'accepted') {
    return [sent, received].map((side) => ({ ...side, list: 'established', connectedAt: respondedAt }));
  }
  return [
    { ...sent, list: 'sent', connectedAt: null },
    { ...received, list: 'received', connectedAt: null },
  ];
}

/** Rows by their keys. */
type Rows = ReadonlyMap<string, Entry>;

/**
 * The rows that a change of a pair removes, and the rows that it adds. If a row exists before and after the change, it is in
 * neither group.
 */
export function entriesChange(before: Pair, after: Pair): { removed: Rows; added: Rows } {
  const rowsOf = (pair: Pair): Rows => new Map(entriesOf(pair).map((entry) => [entryKey(entry), entry]));
  const [old, now] = [rowsOf(before), rowsOf(after)];
  return {
    removed: new Map([...old].filter(([key]) => !now.has(key))),
    added: new Map([...now].filter(([key]) => !old.has(key))),
  };
}

/** How a change of rows changes the totals of the two users. */
export function totalsChange({
  removed,
  added,
}: {
  removed: Rows;
  added: Rows;
}): { ownerId: string; add: Partial<Totals> }[] {
  const sums = new Map<string, Partial<Totals>>();
  const count = ({ ownerId, list }: Entry, by: 1 | -1) => {
    const add = sums.get(ownerId) ?? {};
    add[list] = (add[list] ?? 0) + by;
    sums.set(ownerId, add);
  };
  for (const entry of removed.values()) count(entry, -1);
  for (const entry of added.values()) count(entry, 1);
  return [...sums].map(([ownerId, add]) => ({ ownerId, add }));
}

const letters: Record<ListName, string> = {
  established: 'e',
  sent: 's',
  received: 'r',
  blocks: 'b',
  blockedBy: 'h',
};
const lastMs = 9_999_999_999_999;
const placePattern = /^\d{13}\|[0-9a-f-]{36}$/;

/**
 * The place of an entry: a text by which the entries of a list are sorted. The newest entry comes first. Entries of the same
 * time are sorted by id. The time has a fixed width, so that sorting as text gives this order.
 */
export function placeOf(entry: Entry): string {
  const at = (entry.connectedAt ?? entry.requestedAt).getTime();
  return `${String(lastMs - at).padStart(13, '0')}|${entry.id}`;
}

/** A user's totals before anything is counted. */
export const noTotals: Totals = { established: 0, sent: 0, received: 0, blocks: 0, blockedBy: 0 };

/** Whether a text has the form of a row's place in a list. */
export function isPlace(text: string): boolean {
  return placePattern.test(text);
}

/** The keys between which all rows of a list lie. A row's key is `from` followed by the row's place. */
export function listRange(of: { projectId: string; ownerId: string; list: ListName }): {
  from: string;
  to: string;
} {
  const list = `${of.projectId}|${of.ownerId}|${letters[of.list]}`;
  // `}` is the character that follows `|` in ASCII. So `to` comes directly after all keys that begin with `from`.
  return { from: `${list}|`, to: `${list}}` };
}

const listOf = new Map<string | undefined, ListName>(lists.map((list) => [letters[list], list]));

/**
 * Reads a row's key. The key holds the project, the list's owner, the list, the id of the connection or block, and the row's
 * time (Unix ms).
 */
export function placed(key: string): Pick<Entry, 'projectId' | 'ownerId' | 'list' | 'id'> & { at: number } {
  const [projectId = '', ownerId = '', letter, time, id = ''] = key.split('|');
  const list = listOf.get(letter);
  if (!list) throw new Error('The key of a row names no known list.');
  return { projectId, ownerId, list, id, at: lastMs - Number(time) };
}

/** The key of an entry's row. */
export function entryKey(entry: Entry): string {
  return listRange(entry).from + placeOf(entry);
}
