import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyCollection, Collection, Documents, Range, Stored } from '@kith/store';

const batch = 1_000;

/**
 * Reads all documents in a range of ids, or in a range of an index's keys. If `index` is given, all keys in the range must be
 * different. Lets the process handle requests after each full batch, because SQLite answers without I/O.
 */
export async function* walk<D>(
  documents: Documents,
  of: Collection<D>,
  { above, below }: Pick<Range, 'above' | 'below'>,
  index?: string,
): AsyncGenerator<Stored<D>> {
  const keyOf = ({ id, doc }: Stored<D>) =>
    index ? (of as AnyCollection).indexes?.[index]?.key(doc, id) : id;
  for (let from: string | null | undefined = above; from !== undefined && from !== null; ) {
    const found: Stored<D>[] = await documents.range(of, { above: from, below, limit: batch }, index);
    yield* found;
    const last: Stored<D> | undefined = found.length === batch ? found.at(-1) : undefined;
    from = last && keyOf(last);
    if (last) await nextTurn();
  }
}
