import type { Secrets } from '@kith/base';
import type { AnyCollection } from './collection.ts';
import type { Documents } from './documents.ts';

/** Reseals a text. `purpose` and `bound` have to be the values with which the text was sealed. */
export type Anew = (purpose: string, sealed: string, bound?: string) => string;

/** Targets that hold something sealed under KITH_SECRET. */
export interface Sealed {
  in: AnyCollection;
  /** Reseals every sealed text of a document, and returns the new document. */
  // biome-ignore lint/suspicious/noExplicitAny: for the reason given at `AnyCollection`.
  anew(stored: { id: string; doc: any }, anew: Anew): any;
}

/** The number of sealed texts that were found, and how many of them were resealed. */
export interface Resealed {
  sealed: number;
  anew: number;
  /** Number of texts in documents that have changed meanwhile. These texts are left as they were. */
  left: number;
}

const atOnce = 200;

/**
 * Reseals everything that is not sealed under the current secret of `by`. `secrets` open the texts. `by` seals the texts again;
 * by default, `by` is the same as `secrets`. A document that changes meanwhile is left for the next run. Throws `CannotOpen`.
 */
export async function resealAll(
  documents: Pick<Documents, 'range' | 'change'>,
  sealed: readonly Sealed[],
  secrets: Secrets,
  by: Secrets = secrets,
): Promise<Resealed> {
  const done: Resealed = { sealed: 0, anew: 0, left: 0 };
  for (const { in: of, anew } of sealed) {
    for (let above = ''; ; ) {
      const some = await documents.range(of, { above, below: '~', limit: atOnce });
      const last = some.at(-1);
      if (!last) break;
      for (const stored of some) {
        let older = 0;
        const set = anew(stored, (purpose, text, bound) => {
          done.sealed += 1;
          if (by.isCurrent(text)) return text;
          older += 1;
          return by.seal(purpose, secrets.open(purpose, text, bound), bound);
        });
        if (older === 0) continue;
        const [made] = await documents.change([{ in: of, target: stored, set }]);
        done[made === 'made' ? 'anew' : 'left'] += older;
      }
      above = last.id;
    }
  }
  return done;
}
