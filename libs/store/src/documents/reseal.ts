import type { Secrets } from '@kith/base';
import type { AnyCollection } from './collection.ts';
import type { Documents } from './documents.ts';

/** Seals a text anew that was sealed for a purpose and bound to something. */
export type Anew = (purpose: string, sealed: string, bound?: string) => string;

/** Targets that hold something sealed under KITH_SECRET. */
export interface Sealed {
  in: AnyCollection;
  /** The document with all that is sealed in it sealed anew. */
  // biome-ignore lint/suspicious/noExplicitAny: as `AnyCollection`.
  anew(stored: { id: string; doc: any }, anew: Anew): any;
}

/** What was found: sealed texts, and of these the ones that were sealed anew. */
export interface Resealed {
  sealed: number;
  anew: number;
  /** Those that have changed meanwhile, and are left as they were. */
  left: number;
}

const atOnce = 200;

/**
 * Seals everything anew that was not sealed under the current secret. `by` are the secrets that it is sealed under then, where they are
 * others than those that open it. A document that changes meanwhile stays for the next time. Throws `CannotOpen`.
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
