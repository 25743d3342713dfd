import type { Sealed } from '@kith/store';
import { hashKeys, keys } from './collections/keys.ts';
import { resetRequests } from './collections/mails.ts';
import { factors } from './collections/sign-in.ts';
import { resealedBook } from './factor-book.ts';
import { sealedFor } from './hash-keys.ts';
import { lastIn } from './keys-of.ts';
import { versionOf } from './reset-requests.ts';

/**
 * All values that identity seals. After a change of KITH_SECRET, the values in this list are sealed again. If a kind of value
 * were missing here, the values of this kind could not be opened after the change.
 */
export const sealed: readonly Sealed[] = [
  { in: keys, anew: ({ doc }, anew) => ({ ...doc, sealed: anew(sealedFor.signing, doc.sealed, doc.kid) }) },
  {
    in: factors,
    anew: ({ id, doc }, anew) => resealedBook(doc, (text) => anew(sealedFor.totp, text, lastIn(id))),
  },
  { in: hashKeys, anew: ({ id, doc }, anew) => ({ sealed: anew(sealedFor.hashing, doc.sealed, id) }) },
  {
    in: resetRequests,
    // The later `until` gives the resealed request a higher version, so that it replaces the stored one.
    anew: ({ id, doc }, anew) => ({ sealed: anew(sealedFor.address, doc.sealed, id), until: doc.until + 1 }),
    version: versionOf,
    dispensable: true,
  },
];
