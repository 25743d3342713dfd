import { type JetStreamManager, PubHeaders } from '@nats-io/jetstream';
import { type Backlog, type DeadLetter, deadLetterSubject, originalId } from './bus.ts';
import { errorHeader, subjectHeader } from './nats-consumer.ts';
import { searchStream } from './nats-search.ts';
import { streamNames } from './stream-names.ts';

const replayed = 'replayed';

/**
 * The subject of a message that marks an event as replayed. The position of the replayed copy is not stored. So when such an
 * event is withdrawn, the search continues to the end of the stream.
 */
export function replayMark(prefix: string, durable: string, id: string): string {
  return `${deadLetterSubject(prefix, durable, id)}.${replayed}`;
}

/**
 * Finds the events that have dead letters and the events that were replayed. For each of these events, returns the subject
 * token that stands for the event's id.
 */
export async function deadOnes(
  jsm: JetStreamManager,
  prefix: string,
): Promise<{ dead: Set<string>; replayed: Set<string> }> {
  const info = await jsm.streams.info(streamNames(prefix).dead, { subjects_filter: `${prefix}.dead.>` });
  const found = { dead: new Set<string>(), replayed: new Set<string>() };
  for (const subject of Object.keys(info.state.subjects ?? {})) {
    const [, token, kind] = subject.slice(`${prefix}.dead.`.length).split('.');
    if (token) found[kind === replayed ? 'replayed' : 'dead'].add(token);
  }
  return found;
}

/** Reads an event that has a dead letter. `token` is the subject token that stands for the event's id. */
export async function readDeadEvent(
  jsm: JetStreamManager,
  prefix: string,
  token: string,
): Promise<Pick<DeadLetter, 'subject' | 'body'> | undefined> {
  const letter = await jsm.streams.getMessage(streamNames(prefix).dead, {
    last_by_subj: `${prefix}.dead.*.${token}`,
  });
  return letter ? { subject: letter.header.get(subjectHeader), body: letter.data } : undefined;
}

/**
 * A durable consumer of the stream of events. `position` is the last position up to which the consumer has acknowledged all its
 * events.
 */
export interface Position {
  durable: string;
  subjects: string[];
  position: number;
}

/**
 * Reads the bodies of all events that consumers have given up, and of replayed events that a consumer may not have received.
 * The given positions of the consumers may be a little older than this call. This does not matter: if an event was replayed
 * after the positions were read, the position of its new copy is above all of them.
 */
export async function readGivenUp(
  jsm: JetStreamManager,
  prefix: string,
  consumers: readonly Position[],
): Promise<Uint8Array[]> {
  const streams = streamNames(prefix);
  const bodies: Uint8Array[] = [];
  // The first subject finds dead letters of earlier versions, whose subjects do not contain the event's id.
  const letters = [`${prefix}.dead.*`, `${prefix}.dead.*.*`];
  await searchStream(jsm, streams.dead, { first: 0, last: Infinity, subjects: letters }, ({ data }) => {
    bodies.push(data);
  });
  // A replay stores its mark before it removes the dead letter. So if a replay removed a dead letter before the search above
  // could find it, the mark of this replay is found here.
  if ((await deadOnes(jsm, prefix)).replayed.size === 0) return bodies;
  for (const { subjects, position } of consumers) {
    const search = { first: position + 1, last: Infinity, subjects };
    await searchStream(jsm, streams.events, search, ({ header, data }) => {
      const id = header.get(PubHeaders.MsgIdHdr);
      if (originalId(id) !== id) bodies.push(data);
    });
  }
  return bodies;
}

/** Reads how far a durable is behind, and counts the events that it has given up. */
export async function readBacklog(jsm: JetStreamManager, prefix: string, durable: string): Promise<Backlog> {
  const streams = streamNames(prefix);
  const [consumer, letters] = await Promise.all([
    jsm.consumers.info(streams.events, durable),
    jsm.streams.info(streams.dead, { subjects_filter: `${prefix}.dead.${durable}.>` }),
  ]);
  const dead = Object.entries(letters.state.subjects ?? {})
    .filter(([subject]) => !subject.endsWith(`.${replayed}`))
    .reduce((sum, [, count]) => sum + count, 0);
  const { num_pending, num_ack_pending, ack_floor } = consumer;
  return { pending: num_pending + num_ack_pending, dead, position: ack_floor.stream_seq };
}

/** Reads the events that a durable has given up, oldest first, each with its position in the stream. */
export async function readDeadLetters(
  jsm: JetStreamManager,
  prefix: string,
  durable: string,
): Promise<(DeadLetter & { seq: number })[]> {
  const own = `${prefix}.dead.${durable}`;
  const letters: (DeadLetter & { seq: number })[] = [];
  // The first subject finds dead letters of earlier versions, whose subjects do not contain the event's id.
  const search = { first: 0, last: Infinity, subjects: [own, `${own}.*`] };
  await searchStream(jsm, streamNames(prefix).dead, search, ({ seq, header, data }) => {
    // `<durable>:<id>`
    const id = header.get(PubHeaders.MsgIdHdr).replace(/^[^:]*:/, '');
    letters.push({ seq, id, subject: header.get(subjectHeader), body: data, error: header.get(errorHeader) });
  });
  return letters.sort((one, other) => one.seq - other.seq);
}
