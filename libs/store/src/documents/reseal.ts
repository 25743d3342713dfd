import { setImmediate as nextTurn } from 'node:timers/promises';
import { CannotOpen, type Secrets } from '@kith/base';
import type { AnyCollection } from './collection.ts';
import type { Documents } from './documents.ts';

/** Reseals a text. `purpose` and `bound` have to be the values with which the text was sealed. */
export type Anew = (purpose: string, sealed: string, bound?: string) => string;

/** Targets or copies that hold something sealed under KITH_SECRET. */
export interface Sealed {
  in: AnyCollection;
  /** Reseals every sealed text of a document, and returns the new document. */
  // biome-ignore lint/suspicious/noExplicitAny: for the reason given at `AnyCollection`.
  anew(stored: { id: string; doc: any }, anew: Anew): any;
  /** The version of a resealed document; only for copies. It has to be newer than the version that was read. */
  // biome-ignore lint/suspicious/noExplicitAny: for the reason given at `AnyCollection`.
  version?(doc: any): number;
  /**
   * Set if the service can do without these documents. If a text in such a document cannot be opened, the document is left as it
   * is. For all other documents, `CannotOpen` is thrown, because the operator may still find the secret that is missing.
   */
  dispensable?: true;
}

/** The number of sealed texts that were found, and how many of them were resealed. */
export interface Resealed {
  sealed: number;
  anew: number;
  /** Number of texts in documents that have changed meanwhile. These texts are left as they were. */
  left: number;
  /** Number of documents that cannot be opened, and that the service can do without. */
  unreadable: number;
}

const atOnce = 200;

/**
 * Reseals everything that is not sealed under the current secret of `by`. `secrets` open the texts. `by` seals the texts again;
 * by default, `by` is the same as `secrets`. A target that changes meanwhile is left for the next run. Throws `CannotOpen`,
 * except for documents that are `dispensable`.
 */
export async function resealAll(
  documents: Pick<Documents, 'get' | 'range' | 'change' | 'keep'>,
  sealed: readonly Sealed[],
  secrets: Secrets,
  by: Secrets = secrets,
): Promise<Resealed> {
  const done: Resealed = { sealed: 0, anew: 0, left: 0, unreadable: 0 };
  for (const { in: of, anew, version, dispensable } of sealed) {
    for (let above = ''; ; ) {
      const some = await documents.range(of, { above, below: '~', limit: atOnce });
      const last = some.at(-1);
      if (!last) break;
      // In the embedded form, the other awaits here do not yield to the event loop. This pause lets the process handle
      // requests.
      await nextTurn();
      for (const stored of some) {
        let older = 0;
        const again: Anew = (purpose, text, bound) => {
          done.sealed += 1;
          if (by.isCurrent(text)) return text;
          older += 1;
          return by.seal(purpose, secrets.open(purpose, text, bound), bound);
        };
        let set: unknown;
        try {
          set = anew(stored, again);
        } catch (error) {
          if (!dispensable || !(error instanceof CannotOpen)) throw error;
          done.unreadable += 1;
          continue;
        }
        if (older === 0) continue;
        await nextTurn();
        if (version) {
          // A copy that was removed meanwhile must not come back.
          if (!(await documents.get(of, [stored.id])).has(stored.id)) continue;
          await documents.keep(of, [{ id: stored.id, doc: set, epoch: 0, version: version(set) }]);
          done.anew += older;
        } else {
          const [made] = await documents.change([{ in: of, target: stored, set }]);
          done[made === 'made' ? 'anew' : 'left'] += older;
        }
      }
      above = last.id;
    }
  }
  return done;
}
