import { z } from 'zod';
import { collection } from './collection.ts';

/**
 * The answer to a request with an idempotency key. It is kept so that a repeated request gets the same answer (docs/adr/0046).
 */
export interface Reply {
  /** The owner, `<project>|<user>`. The erasure of a user finds the answers of the user by this field. */
  user: string;
  /** An HMAC of the request, with the idempotency key as its secret. */
  mac: string;
  /** The answer, sealed under a key that is stored nowhere. */
  sealed: string;
  /** Unix ms. */
  expiresAt: number;
}

/**
 * The answers. An id is made of the caller, the operation and a hash of the idempotency key. On MongoDB, a document without
 * content is a request under way.
 */
export const replyCollection = collection<Reply>({
  name: 'replies',
  kind: 'copy',
  version: 1,
  schema: z.object({ user: z.string(), mac: z.string(), sealed: z.string(), expiresAt: z.int() }),
  indexes: { user: { key: ({ user }) => user } },
  expires: ({ expiresAt }) => expiresAt,
});

/** How long an answer is kept (spec#idempotency-replay), in ms. */
export const keepReplyMs = 24 * 3600 * 1000;
