import type { Bus } from '@kith/bus';
import {
  type BodyOf,
  closeFeed,
  feedAfter,
  type InternalOperationSpec,
  type OutputOf,
  openFeed,
} from '@kith/contracts';
import { ask } from '@kith/service';
import { busFailure } from '../forward/bus-failure.ts';

/** The user who owns the feed, and the stream that reads the feed. */
export interface FeedOf {
  projectId: string;
  userId: string;
  streamId: string;
}

const batch = 50;

/**
 * A user's feed, which the notifications service holds. Each call asks this service. Throws `gateway/unavailable` or
 * `gateway/timeout` if the service does not answer.
 */
export class Feed {
  readonly #bus: Bus;
  readonly #of: FeedOf;
  readonly #request: { requestId: string; timeoutMs: number };

  constructor(bus: Bus, of: FeedOf, request: { requestId: string; timeoutMs: number }) {
    this.#bus = bus;
    this.#of = of;
    this.#request = request;
  }

  /**
   * Opens the stream at the notifications service, which counts it among the user's open streams. Resolves to the last sequence
   * number of the feed.
   */
  async open(): Promise<number> {
    return (await this.#ask(openFeed, this.#of)).seq;
  }

  after(seq: number): Promise<OutputOf<typeof feedAfter>> {
    return this.#ask(feedAfter, { ...this.#of, after: seq, limit: batch });
  }

  async close(): Promise<void> {
    await this.#ask(closeFeed, this.#of);
  }

  async #ask<O extends InternalOperationSpec>(spec: O, body: BodyOf<O>): Promise<OutputOf<O>> {
    const { requestId, timeoutMs } = this.#request;
    try {
      return await ask(this.#bus, spec, body, { requestId, deadline: Date.now() + timeoutMs });
    } catch (error) {
      throw busFailure(error);
    }
  }
}
