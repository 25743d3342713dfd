import { type JetStreamManager, type MsgRequest, PubHeaders, type StoredMsg } from '@nats-io/jetstream';
import { originalId, subjectToken, type Withdrawal } from './bus.ts';
import { deadOnes } from './nats-dead-letters.ts';
import { removeMessage } from './nats-streams.ts';
import { streamNames } from './stream-names.ts';

interface Parts {
  jsm: JetStreamManager;
  prefix: string;
}

/** A part of the stream to be searched, and for what. */
interface Search {
  first: number;
  last: number;
  ids: Set<string>;
  subjects: Set<string>;
}

/** Reading a gap of so many messages between two spans costs less than a second search. */
const nearby = 100;
/** How many messages are asked for at once, and in parts of which size at least. */
const readers = 16;
const smallest = 100;

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
async function takeOut({ jsm, prefix }: Parts, { first, last, ids, subjects }: Search) {
  const { events: stream } = streamNames(prefix);
  const { state } = await jsm.streams.info(stream);
  const range = { first: Math.max(first, state.first_seq, 1), last: Math.min(last, state.last_seq) };
  const readings = cut(range).flatMap((part) => [...subjects].map((subject) => ({ ...part, subject })));
  let next = 0;
  const readOn = async () => {
    for (let part = readings[next++]; part; part = readings[next++]) {
      for await (const { seq, header } of messagesOf(jsm, stream, part)) {
        const id = header.get(PubHeaders.MsgIdHdr);
        if (id && ids.has(originalId(id))) await removeMessage(jsm, stream, seq);
      }
    }
  };
  await Promise.all(Array.from({ length: readers }, readOn));
}

/** Cuts a range into parts that are read side by side. */
function cut({ first, last }: { first: number; last: number }): { first: number; last: number }[] {
  const size = Math.max(Math.ceil((last - first + 1) / readers), smallest);
  const starts = Array.from(
    { length: Math.max(0, Math.ceil((last - first + 1) / size)) },
    (_, at) => first + at * size,
  );
  return starts.map((start) => ({ first: start, last: Math.min(start + size - 1, last) }));
}

/** The messages of a subject in a range, one after the other: a consumer would be faster, and no service may make one (docs/adr/0056). */
async function* messagesOf(
  jsm: JetStreamManager,
  stream: string,
  { first, last, subject }: { first: number; last: number; subject: string },
): AsyncGenerator<StoredMsg> {
  for (let seq = first; seq <= last; seq++) {
    // The server knows it from 2.9 on, the client's types do not.
    const query = { seq, next_by_subj: subject } as MsgRequest;
    const message = await jsm.streams.getMessage(stream, query);
    if (!message || message.seq > last) return;
    yield message;
    seq = message.seq;
  }
}
