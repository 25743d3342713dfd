import { type JetStreamManager, PubHeaders } from '@nats-io/jetstream';
import { originalId, subjectToken, type Withdrawal } from './bus.ts';
import { deadOnes } from './nats-dead-letters.ts';
import { searchStream } from './nats-search.ts';
import { removeMessage } from './nats-streams.ts';
import { streamNames } from './stream-names.ts';

interface Parts {
  jsm: JetStreamManager;
  prefix: string;
}

/** The part of the stream to search, and the ids and subjects to search for. */
interface Search {
  first: number;
  last: number;
  ids: Set<string>;
  subjects: Set<string>;
}

/** If at most this many messages are between two spans, reading these messages is faster than another search. */
const nearby = 100;

/**
 * Removes events from both streams. Removes dead letters before the events, and again after them, because an event may be given
 * up or replayed meanwhile. After that, a process may still give up the event and store a dead letter, or replay the event and
 * store a copy. Such a process then removes the letter or the copy itself (`NatsConsumer`, `NatsBus.replayDeadLetters`).
 */
export async function withdrawEvents(parts: Parts, events: readonly Withdrawal[]): Promise<void> {
  const tokens = new Set(events.map(({ id }) => subjectToken(originalId(id))));
  const replayed = await purgeLetters(parts, tokens);
  for (const search of searchesFor(events, replayed)) await takeOut(parts, search);
  await purgeLetters(parts, tokens);
}

/**
 * Purges the dead letters of these events. Returns the tokens of all events that were ever replayed, not only of the events in
 * `tokens`.
 */
async function purgeLetters({ jsm, prefix }: Parts, tokens: ReadonlySet<string>): Promise<Set<string>> {
  const { dead, replayed } = await deadOnes(jsm, prefix);
  for (const token of dead) {
    if (!tokens.has(token)) continue;
    await jsm.streams.purge(streamNames(prefix).dead, { filter: `${prefix}.dead.*.${token}` });
  }
  return replayed;
}

/**
 * Plans the searches. Spans that are close together become one search. If an event may have a copy at an unknown position, its
 * search continues to the end of the stream.
 */
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

/**
 * Deletes every copy of the events. The ids decide which messages are deleted. The given positions cannot decide this, because
 * they may be from a stream that was lost, and may belong to other events now.
 */
async function takeOut({ jsm, prefix }: Parts, { ids, ...search }: Search) {
  const { events: stream } = streamNames(prefix);
  await searchStream(jsm, stream, search, async ({ seq, header }) => {
    const id = header.get(PubHeaders.MsgIdHdr);
    if (id && ids.has(originalId(id))) await removeMessage(jsm, stream, seq);
  });
}
