import { randomUUID } from 'node:crypto';
import type { Collection, Filter } from 'mongodb';
import { insertAbsent } from '../drivers/failed-writes.ts';
import type { CounterFields, KeptReply } from '../settle/plan.ts';
import type { Settler } from '../settle/settler.ts';
import type { AnyChange, Claim, Kept, Refusal, Replies } from './documents.ts';
import { type MongoDocument, readOf } from './mongo-collection.ts';
import { contentOf } from './mongo-content.ts';
import { keepReplyMs, type Reply, replyCollection } from './reply-collection.ts';

/**
 * An answer, or a request under way if there is no content. `pending` names the request's change while this change may still
 * commit.
 */
type StoredReply = MongoDocument & CounterFields & { claim?: string; until?: Date; forMs?: number };

interface Parts {
  stored: Collection<StoredReply>;
  settler: Settler;
  /** Makes one change, with an answer if there is one. `'lost'`: another request holds the answer's claim. */
  make(change: AnyChange, reply?: KeptReply): Promise<'made' | 'lost' | Refusal>;
  erase(change: AnyChange): Promise<unknown>;
}

/**
 * The answers on MongoDB. As with counters (docs/adr/0005), the answer reaches the request's document only after the change is
 * committed. First, the request's document names the change. Then the commit stores the answer in the target. Finally, the
 * answer is copied from the target to the request's document. So a process that finds an open request can find out whether the
 * request has changed anything. A request that has changed nothing can be stopped.
 */
export class MongoReplies implements Replies {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async begin(id: string, forMs: number): Promise<Claim | Reply | 'running'> {
    const { stored } = this.#parts;
    const token = randomUUID();
    for (;;) {
      const now = Date.now();
      const claim = { claim: token, until: new Date(now + forMs), forMs };
      const open = { _id: id, rev: 0, ...claim, expiresAt: new Date(now + keepReplyMs) };
      const [taken] = await insertAbsent(stored, [open]);
      if (!taken) return { id, token };
      const there = await stored.findOne({ _id: id });
      if (!there) continue;
      if (there.shape !== undefined) {
        const reply = readOf(replyCollection, there).doc;
        if (reply.expiresAt > now) return reply;
        await stored.deleteOne({ _id: id, shape: there.shape, expiresAt: there.expiresAt as Date });
        continue;
      }
      // Reads the clock again: the claim may have been made after `now`.
      const left = Number(there.until) - Date.now();
      // A clock is wrong if the time left is more than twice the time for which the claim was made. In this case, the request
      // does not count as running. A smaller difference between the clocks of replicas does not end a running request.
      const isRunning = left > 0 && left <= 2 * (there.forMs ?? 0);
      if (there.pending?.length) {
        if (await this.#parts.settler.settleReply(stored.collectionName, there, { stop: !isRunning }))
          continue;
        return 'running';
      }
      if (isRunning) return 'running';
      const asRead = { _id: id, claim: there.claim, 'pending.0': { $exists: false } } as Filter<StoredReply>;
      if ((await stored.updateOne(asRead, { $set: claim })).matchedCount > 0) return { id, token };
    }
  }

  async keep(changes: readonly AnyChange[], { id, token }: Claim, reply: Reply): Promise<Kept> {
    const { make, erase, stored } = this.#parts;
    const [first, ...others] = changes as [AnyChange, ...AnyChange[]];
    const made: AnyChange[] = [];
    let kept: Kept = 'made';
    for (let at = others.length; at > 0 && kept === 'made'; at--) {
      const change = changes[at] as AnyChange;
      const outcome = await make(change);
      if (outcome === 'made') made.push(change);
      else kept = { at, refusal: outcome as Refusal };
    }
    if (kept === 'made') {
      const content = contentOf(replyCollection, id, reply);
      const set = { ...content, epoch: 0, newest: 1 };
      const outcome = await make(first, { in: stored.collectionName, id, claim: token, set });
      if (outcome === 'made' || outcome === 'lost') kept = outcome;
      else kept = { at: 0, refusal: outcome };
    }
    if (kept !== 'made') {
      // Targets with rows, counters or events are not erased, because they may have changed since they were made. When the
      // request is repeated, it finds them. If the process dies here, the targets that are not erased yet have no effect, and
      // expire.
      for (const change of made) if (isAlone(change)) await erase(change);
      if (kept !== 'lost' && !made.every(isAlone)) kept = { ...kept, isPartly: true };
    }
    return kept;
  }

  async release({ id, token }: Claim): Promise<void> {
    const idle = { _id: id, claim: token, 'pending.0': { $exists: false } } as Filter<StoredReply>;
    await this.#parts.stored.deleteOne(idle);
  }

  async forget({ projectId, userId }: { projectId: string; userId: string }): Promise<void> {
    const user = `${projectId}|${userId}`;
    await this.#parts.stored.deleteMany({ 'k.user': user } as Filter<StoredReply>);
    // The ids of requests that a server key has made for the user begin with `<project>|<user>~<key>|`. The range includes
    // them.
    const own = { _id: { $gt: `${user}|`, $lt: `${user}~~` }, until: { $lt: new Date() } };
    await this.#parts.stored.deleteMany({ ...own, 'pending.0': { $exists: false } } as Filter<StoredReply>);
  }
}

/** Whether a change only creates a target, without rows, counters or events. */
function isAlone({ target, rows = [], counters = [], events = [] }: AnyChange): boolean {
  return typeof target === 'string' && rows.length + counters.length + events.length === 0;
}
