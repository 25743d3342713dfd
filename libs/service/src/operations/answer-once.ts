import { ApiError, failedAfterChange, Turns, untilMade } from '@kith/base';
import type { Message } from '@kith/bus';
import type { OperationSpec } from '@kith/contracts';
import {
  changedNothing,
  type DocumentChange,
  HeldChanges,
  keepReplyMs,
  type Refusal,
  type Replies,
} from '@kith/store';
import type { Logger } from 'pino';
import type { RequestContext } from './context.ts';
import { KeyedRequest } from './keyed-request.ts';

/** What a handler has returned, and the reply that is made from it. */
export interface Answer {
  output: unknown;
  reply: Message;
}

interface Parts {
  replies: Replies;
  answer: () => Promise<Answer>;
  /**
   * The `replayed` function of the handler. It looks at a kept answer before the answer is sent again, and may return another
   * answer to send instead.
   */
  revise: ((output: unknown) => Promise<unknown>) | undefined;
  log: () => Logger;
}

/** How long a request with an idempotency key may run if the request has no deadline, in ms. */
const usualMs = 10_000;
/** If requests of this process have conflicted over the same target, they continue one after the other. */
const turns = new Turns();

/**
 * Answers a request with an idempotency key. If an answer was kept, returns that answer, revised if the handler asks for it.
 * Otherwise calls `answer`, makes its changes, and stores the answer in the same write as the change that it reports
 * (docs/adr/0046). If the store refuses a change, `answer` runs again. Throws `request/in-progress`,
 * `request/idempotency-mismatch`, `gateway/unavailable`, and the errors of `answer`. If the request was only partly done,
 * throws `gateway/timeout` instead of `gateway/unavailable`. After any of these errors, no answer of this request is stored.
 */
export async function answerOnce(
  of: { spec: OperationSpec; context: RequestContext; body: Uint8Array },
  { replies, answer, revise, log }: Parts,
): Promise<Message> {
  const { spec, context } = of;
  const request = new KeyedRequest(of);
  const deadline = Number.isNaN(context.deadline) ? Date.now() + usualMs : context.deadline;
  const begun = await replies.begin(request.id, Math.max(deadline - Date.now(), 1));
  if (begun === 'running') throw new ApiError('request/in-progress');
  if (!('token' in begun)) {
    const kept = request.replay(begun);
    return revise ? revised(kept, revise) : kept;
  }

  let refused: { at: number; refusal: Refusal } | undefined;
  let contested = '';
  let isKept = false;
  let isPartly = false;
  // If a step that follows from a change fails, a sweep does this step later.
  const follow = (held: HeldChanges) =>
    held
      .follow()
      .catch((error) =>
        log().warn({ err: error }, 'a follow-up step of a change has failed; a sweep does it later'),
      );
  const attempt = async () => {
    const held = new HeldChanges(replies, refused);
    const { output, reply } = await held.run(answer).catch(undone(held));
    if (held.changes.length === 0) return { result: reply };
    // If a server key acts as itself, the answer belongs to the user whom the request is about. The answer is erased with that
    // user.
    const { userId: about } = context.serverKey ? context.params : {};
    const userId =
      context.caller?.userId ?? spec.keyedByProject?.userOf(output) ?? about?.toLowerCase() ?? '';
    const keeping = replies.keep(held.changes, begun, {
      user: `${context.projectId}|${userId}`,
      ...request.seal(reply),
      expiresAt: Date.now() + keepReplyMs,
    });
    const kept = await keeping.catch(undone(held, changedNothing));
    if (kept === 'lost') throw new ApiError('request/in-progress');
    if (kept !== 'made') {
      refused = kept;
      const { in: collection, target } = held.changes[kept.at] as DocumentChange<unknown>;
      contested = `${collection.name} ${typeof target === 'string' ? target : target.id}`;
      if (kept.isPartly) {
        isPartly = true;
        await follow(held);
      } else await held.undo();
      return undefined;
    }
    isKept = true;
    await follow(held);
    return { result: reply };
  };
  const inTurn = <T>(work: () => Promise<T>, until: number) => turns.run([contested], work, { until });
  try {
    return await untilMade(attempt, { deadline, inTurn });
  } catch (error) {
    throw isPartly ? failedAfterChange(error) : error;
  } finally {
    if (!isKept) {
      // If the key cannot be released, the claim on it expires by itself.
      await replies
        .release(begun)
        .catch((error) =>
          log().warn({ err: error }, 'an Idempotency-Key is not released; it stays taken until it expires'),
        );
    }
  }
}

/**
 * Handles an error of an attempt. If the error proves that none of the held changes was made, undoes what the handler has done
 * besides its changes (`ifUnmade`).
 */
function undone(held: HeldChanges, isProof: (error: unknown) => boolean = () => true) {
  return async (error: unknown): Promise<never> => {
    if (isProof(error)) await held.undo();
    throw error;
  };
}

/**
 * A kept answer with the value that `revise` returns. If `revise` returns the value that it was given, the bytes stay the same.
 */
async function revised(kept: Message, revise: NonNullable<Parts['revise']>): Promise<Message> {
  const output: unknown = JSON.parse(new TextDecoder().decode(kept.body));
  const given = await revise(output);
  return given === output ? kept : { ...kept, body: new TextEncoder().encode(JSON.stringify(given)) };
}
