import type { JetStreamManager, MsgRequest, StoredMsg } from '@nats-io/jetstream';

/** How many readers ask for messages at the same time, and the smallest number of positions in a reader's part. */
const readers = 16;
const smallest = 100;

/** A part of a stream, and the subjects to search for in this part. Subjects may contain wildcards. */
export interface StreamSearch {
  first: number;
  last: number;
  subjects: Iterable<string>;
}

/**
 * Reads the messages on some subjects in a part of a stream. Reads several messages at the same time, in no particular order.
 * Skips messages that are published after the call.
 */
export async function searchStream(
  jsm: JetStreamManager,
  stream: string,
  { first, last, subjects }: StreamSearch,
  visit: (message: StoredMsg) => Promise<void> | void,
): Promise<void> {
  const { state } = await jsm.streams.info(stream);
  const range = { first: Math.max(first, state.first_seq, 1), last: Math.min(last, state.last_seq) };
  const readings = cut(range).flatMap((part) => [...subjects].map((subject) => ({ ...part, subject })));
  let next = 0;
  const readOn = async () => {
    for (let part = readings[next++]; part; part = readings[next++]) {
      for await (const message of messagesOf(jsm, stream, part)) await visit(message);
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
 * Reads the messages on a subject in a range, one by one. A consumer would be faster, but services and operators have no right
 * to create a consumer on the stream of events (docs/adr/0056).
 */
async function* messagesOf(
  jsm: JetStreamManager,
  stream: string,
  { first, last, subject }: { first: number; last: number; subject: string },
): AsyncGenerator<StoredMsg> {
  for (let seq = first; seq <= last; seq++) {
    // The server supports `next_by_subj` together with `seq` since version 2.9. The client's types do not contain this
    // combination.
    const query = { seq, next_by_subj: subject } as MsgRequest;
    const message = await jsm.streams.getMessage(stream, query);
    if (!message || message.seq > last) return;
    yield message;
    seq = message.seq;
  }
}
