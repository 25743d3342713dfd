import { atMost, figure, type Row, table } from '../row.ts';
import { measureDistributed } from './distributed.ts';
import { measureEmbedded } from './embedded.ts';
import type { FormFigures } from './measure.ts';

/** Measures how fast events are published, relayed and applied, and how much memory the applying process needs. */
export const eventsRow: Row = {
  name: 'events',
  title: 'Events',
  isQuick: false,
  compared: (forms: Record<string, FormFigures>) =>
    Object.entries(forms).flatMap(([form, { publish, relay, consume, burst }]) => [
      ...[
        { name: `${form}: published a second`, value: publish },
        { name: `${form}: relayed a second`, value: relay },
        { name: `${form}: consumed a second`, value: consume },
        { name: `${form}: consumed a second in a burst`, value: burst.events / burst.applied.seconds },
      ].map((one) => ({ ...one, better: 'more' as const })),
    ]),
  async measure({ engines, folder, isQuick, progress }) {
    const { natsUrl, mongodbUrl } = engines;
    const sizes = isQuick ? { each: 2_000, burst: 10_000 } : { each: 20_000, burst: 100_000 };
    const embedded = await measureEmbedded({ sizes, folder, progress });
    const line = (text: string) => progress(`distributed: ${text}`);
    const distributed = await measureDistributed({ natsUrl, mongodbUrl, sizes, folder, progress: line });
    const forms = { distributed, embedded };
    const growth = ({ burst: { memory } }: FormFigures) => memory.second / memory.first;
    return {
      json: forms,
      markdown: describe(forms),
      // A quick run does not judge the memory. The reason: its burst is short, and V8 enlarges the space for new objects step
      // by step, even until the end of such a burst. So memory also grows when nothing is wrong.
      verdicts: Object.entries(isQuick ? {} : forms).map(([name, figures]) =>
        atMost(
          `events, ${name}: memory in the second half of the burst over the first`,
          growth(figures),
          1.1,
        ),
      ),
    };
  },
};

function describe(forms: Record<string, FormFigures>): string {
  const rates = Object.entries(forms).map(([name, { publish, relay, consume, burst }]) => [
    name,
    ...[publish, relay, consume, burst.relay, burst.events / burst.applied.seconds].map(figure),
  ]);
  const bursts = Object.entries(forms).map(
    ([
      name,
      {
        burst: { applied, memory, requests },
      },
    ]) => [
      name,
      ...[applied.p50, applied.p99, applied.max].map((ms) => figure(ms / 1_000)),
      ...[memory.first, memory.second].map(figure),
      ...[requests.p50, requests.p99, requests.max].map(figure),
      requests.failed,
    ],
  );
  const events = Object.values(forms)[0]?.burst.events ?? 0;
  return [
    table(['events/s', 'publish', 'relay', 'consume', 'relay in the burst', 'consume in the burst'], rates),
    'Each step was first measured alone, then all steps together in a burst. Events were published 100 at a time, and relayed from documents with one event each. They were consumed for the copy of profiles that the connections service keeps.',
    table(
      [
        `a burst of ${events}`,
        ...['lag p50 s', 'p99 s', 'longest s'],
        ...['memory MiB, first half', 'second half'],
        ...['request p50 ms', 'p99 ms', 'longest ms', 'unanswered'],
      ],
      bursts,
    ),
    'A lag is the time from when an event occurred until the copy had it. Every 20 ms, the consuming process also gets a trivial request. In the embedded form, one process does everything.',
  ].join('\n\n');
}
