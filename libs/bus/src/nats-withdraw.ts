import { randomUUID } from 'node:crypto';
import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  PubHeaders,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { originalId, subjectToken, type Withdrawal } from './bus.ts';
import { deadOnes } from './nats-dead-letters.ts';
import { removeMessage } from './nats-streams.ts';
import { streamNames } from './stream-names.ts';

interface Parts {
  js: JetStreamClient;
  jsm: JetStreamManager;
  prefix: string;
  /** Name of the consumer that looks for copies. */
  reader: string;
}

/** A part of the stream to be searched, and for what. */
interface Search {
  first: number;
  last: number;
  ids: Set<string>;
  subjects: Set<string>;
}

/** Messages between two spans that are sooner read than a second reader is made for. */
const nearby = 5_000;
const batch = 500;

/**
 * Takes events out of both streams. Letters go before the events and after them: an event that is given up or replayed
 * meanwhile is missed by neither this nor the one who does so (`NatsConsumer`, `NatsBus.replayDeadLetters`).
 */
export async function withdrawEvents(parts: Parts, events: readonly Withdrawal[]): Promise<void> {
  const tokens = new Set(events.map(({ id }) => subjectToken(originalId(id))));
  const replayed = await purgeLetters(parts, tokens);
  for (const search of searchesFor(events, replayed)) await takeOut(parts, search);
  await purgeLetters(parts, tokens);
}

/** Purges the letters of events, and gives the events that were ever replayed, these and others. */
async function purgeLetters({ jsm, prefix }: Parts, tokens: ReadonlySet<string>): Promise<Set<string>> {
  const { dead, replayed } = await deadOnes(jsm, prefix);
  for (const token of dead) {
    if (!tokens.has(token)) continue;
    await jsm.streams.purge(streamNames(prefix).dead, { filter: `${prefix}.dead.*.${token}` });
  }
  return replayed;
}

/** Where to look: near spans together, and through to the end for what may have a copy anywhere. */
export function searchesFor(events: readonly Withdrawal[], replayed: ReadonlySet<string>): Search[] {
  const searches: Search[] = [];
  const wanted = events.map(({ id, subject, span }) => {
    const original = originalId(id);
    const isKnown = span && !replayed.has(subjectToken(original));
    return { id: original, subject, first: span?.first ?? 0, last: isKnown ? span.last : Infinity };
  });
  for (const { id, subject, first, last } of wanted.sort((one, other) => one.first - other.first)) {
    let search = searches.at(-1);
    if (!search || first > search.last + nearby) {
      search = { first, last, ids: new Set(), subjects: new Set() };
      searches.push(search);
    }
    search.last = Math.max(search.last, last);
    search.ids.add(id);
    search.subjects.add(subject);
  }
  return searches;
}

/** Deletes every copy of the events, told by their ids: a position alone may be that of another stream before this. */
async function takeOut({ js, jsm, prefix, reader }: Parts, { first, last, ids, subjects }: Search) {
  const { events: stream } = streamNames(prefix);
  const { num_pending: count } = await jsm.consumers.add(stream, {
    durable_name: reader,
    // Makes a reader of another process in the same service an error instead of a shared one.
    metadata: { by: randomUUID() },
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(first, 1),
    filter_subjects: [...subjects],
    headers_only: true,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(10_000),
  });
  try {
    const consumer = await js.consumers.get(stream, reader);
    for (let left = count; left > 0; ) {
      const before = left;
      for await (const message of await consumer.fetch({
        max_messages: Math.min(batch, left),
        expires: 5_000,
      })) {
        left = message.seq >= last ? 0 : message.info.pending;
        const id = message.headers?.get(PubHeaders.MsgIdHdr);
        if (id && ids.has(originalId(id))) await removeMessage(jsm, stream, message.seq);
      }
      if (left === before) throw new Error(`${stream} was not read to its end.`);
    }
  } finally {
    await jsm.consumers.delete(stream, reader);
  }
}
