import { type JetStreamClient, PubHeaders } from '@nats-io/jetstream';
import { type DeadLetter, deadLetterSubject } from './bus.ts';
import { errorHeader, subjectHeader } from './nats-consumer.ts';
import { streamNames } from './nats-streams.ts';

/** Reads what a durable has given up, oldest first, each with its place in the stream. */
export async function readDeadLetters(
  js: JetStreamClient,
  prefix: string,
  durable: string,
): Promise<(DeadLetter & { seq: number })[]> {
  const consumer = await js.consumers.get(streamNames(prefix).dead, {
    filter_subjects: deadLetterSubject(prefix, durable),
  });
  const { num_pending: count } = await consumer.info();
  if (count === 0) return [];
  const letters: (DeadLetter & { seq: number })[] = [];
  for await (const message of await consumer.fetch({ max_messages: count, expires: 5_000 })) {
    letters.push({
      seq: message.seq,
      subject: message.headers?.get(subjectHeader) ?? '',
      id: (message.headers?.get(PubHeaders.MsgIdHdr) ?? '').slice(durable.length + 1),
      body: message.data,
      error: message.headers?.get(errorHeader) ?? '',
    });
  }
  return letters;
}
