import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@kith/bus';
import { median } from '../summary.ts';
import type { Applied } from './lags.ts';
import type { Phase, Some } from './producer.ts';
import { type Watched, watch } from './watch.ts';

/** The figures of one form of the platform. Rates are in events per second, memory in MiB. */
export interface FormFigures {
  publish: number;
  relay: number;
  consume: number;
  burst: {
    events: number;
    /** The rate of the relay during the burst. During the burst, the same machine also stores and consumes events. */
    relay: number;
    applied: Applied;
    requests: Watched['requests'];
    memory: { first: number; second: number };
  };
}

/** A consuming process. */
export interface Consumer {
  pid: number;
  /** The bus on which the process answers requests. */
  bus: Bus;
  /** How many events the process has applied since the last `take`. */
  count(): Promise<number>;
  take(): Promise<Applied>;
}

export interface FormParts {
  produce(phase: Phase, some: Some): Promise<number>;
  startConsumer(): Promise<Consumer>;
  /**
   * `burst`: the number of events that are published alone, and the number of events in the burst. `each`: the number of events
   * that are relayed alone. The rates are more accurate with a high `burst`. NATS accepts 20,000 events within a second, and V8
   * still enlarges its heap during this second, so the rate of a short burst is too low.
   */
  sizes: { each: number; burst: number };
  progress: (line: string) => void;
}

/** Measures a form of the platform. First measures each part by itself, then all parts together under a burst. */
export async function measureForm(parts: FormParts): Promise<FormFigures> {
  const { produce, progress } = parts;
  const { each, burst } = parts.sizes;
  const publish = await produce('publish', { from: 0, count: burst });
  progress(`publishing ${Math.round(publish)}/s`);
  const relay = await produce('relay', { from: burst, count: each });
  progress(`relaying ${Math.round(relay)}/s`);
  const consumer = await parts.startConsumer();
  await applied(consumer, burst + each);
  const { count, seconds } = await consumer.take();
  const consume = count / seconds;
  progress(`consuming ${Math.round(consume)}/s`);
  let relayed = 0;
  const { memory, requests } = await watch(consumer.bus, consumer.pid, async () => {
    const some = { from: burst + each, count: burst };
    [relayed] = await Promise.all([produce('burst', some), applied(consumer, burst)]);
  });
  const figures = {
    events: burst,
    relay: relayed,
    applied: await consumer.take(),
    requests,
    memory: halves(memory),
  };
  progress(`a burst of ${burst}: applied at ${Math.round(burst / figures.applied.seconds)}/s`);
  return { publish, relay, consume, burst: figures };
}

/**
 * The medians of the first and the second half of the samples. The first tenth of the samples is left out, because the process
 * is still starting during that time.
 */
export function halves(samples: readonly number[]): { first: number; second: number } {
  const warm = samples.slice(Math.ceil(samples.length / 10));
  const middle = warm.length >> 1;
  const of = (some: readonly number[]) => median(some.toSorted((a, b) => a - b));
  return { first: of(warm.slice(0, middle)), second: of(warm.slice(middle)) };
}

const patienceMs = 60_000;

/** Waits until `count` events are applied. Throws if no event is applied for a minute. */
async function applied(consumer: Consumer, count: number): Promise<void> {
  let seen = 0;
  for (let since = Date.now(); seen < count; await pause(100)) {
    const now = await consumer.count();
    if (now > seen) since = Date.now();
    seen = now;
    if (Date.now() - since > patienceMs) throw new Error(`Only ${seen} of ${count} events were applied.`);
  }
}
