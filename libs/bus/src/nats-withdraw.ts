import { type JetStreamManager, type MsgRequest, PubHeaders, type StoredMsg } from '@nats-io/jetstream';
import { originalId, subjectToken, type Withdrawal } from './bus.ts';
import { deadOnes } from './nats-dead-letters.ts';
import { removeMessage } from './nats-streams.ts';
import { streamNames } from './stream-names.ts';

interface Parts {
  jsm: JetStreamManager;
  prefix: string;
}

/** A part of the stream to search, and the ids and subjects to look for. */
interface Search {
  first: number;
  last: number;
  ids: Set<string>;
  subjects: Set<string>;
}

/** If the gap between two spans has at most this many messages, reading the gap takes less time than another search. */
const nearby = 100;
/** How many readers ask for messages at the same time, and the smallest number of messages in a reader's part. */
const readers = 16;
const smallest = 100;

/**
 * Removes events from both streams. Removes dead letters before the events, and again after them. An event may be given up or
 * replayed meanwhile. Its new letter or copy is then removed here, or by the process that gives up or replays the event
 * (`NatsConsumer`, `NatsBus.replayDeadLetters`).
 */
export async function withdrawEvents(parts: Parts, events: readonly Withdrawal[]): Promise<void> {
  const tokens = new Set(events.map(({ id }) => subjectToken(originalId(id))));
  const replayed = await purgeLetters(parts, tokens);
  for (const search of searchesFor(events, replayed)) await takeOut(parts, search);
  await purgeLetters(parts, tokens);
}

/**
 * Purges the dead letters of these events. Returns the tokens of all events that were ever replayed, not only of these events.
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
 * Where to look. Spans that are close together become one search. If an event may have a copy anywhere, the search goes to the
 * end of the stream.
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

/** Deletes every copy of the events. Recognises a copy by its id, because the given positions may be from an earlier stream. */
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

/** Cuts a range into parts that are read at the same time. */
function cut({ first, last }: { first: number; last: number }): { first: number; last: number }[] {
  const size = Math.max(Math.ceil((last - first + 1) / readers), smallest);
  const starts = Array.from(
    { length: Math.max(0, Math.ceil((last - first + 1) / size)) },
    (_, at) => first + at * size,
  );
  return starts.map((start) => ({ first: start, last: Math.min(start + size - 1, last) }));
}

/**
 * Reads the messages of a subject in a range one by one. A consumer would be faster, but no service may make one (docs/adr/0056).
 */
async function* messagesOf(
  jsm: JetStreamManager,
  stream: string,
  { first, last, subject }: { first: number; last: number; subject: string },
): AsyncGenerator<StoredMsg> {
  for (let seq = first; seq <= last; seq++) {
    // Since version 2.9, the server supports `next_by_subj` together with `seq`. The client's types do not have this yet.
    const query = { seq, next_by_subj: subject } as MsgRequest;
    const message = await jsm.streams.getMessage(stream, query);
    if (!message || message.seq > last) return;
    yield message;
    seq = message.seq;
  }
}
