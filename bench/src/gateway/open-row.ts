import { join } from 'node:path';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad, openLoad } from '../load/wrk.ts';
import { pageFor, samplePage } from '../page.ts';
import { type Asked, makePopulation } from '../population.ts';
import { residentBytes } from '../processes.ts';
import { atMost, figure, type Row, table } from '../row.ts';
import { startStacks } from './stacks.ts';

const share = 0.7;
const sampleMs = 5_000;
const path = ({ person }: Asked) => `/${person.projectId}/connections?page=1&limit=20`;

/** Sends requests for ten minutes at 70 % of the highest rate. Measures how long requests wait, and whether memory grows. */
export const openRow: Row = {
  name: 'open-loop',
  title: 'Open loop at 70 % of the highest rate',
  isQuick: false,
  async measure({ engines, wrk, folder, progress }) {
    const { natsUrl, redisUrl } = engines;
    const population = await makePopulation();
    const page = samplePage();
    await using stacks = await startStacks({ natsUrl, redisUrl, folder, population, page, only: ['kith'] });
    const [kith] = stacks.all;
    if (!kith) throw new Error("Kith's gateway has not been started.");
    const requests = writeRequests(join(folder, 'open.requests'), population.requests, (asked) => ({
      path: path(asked),
    }));
    const body = pageFor(page)(population.people[0]?.userId ?? '');
    const expected = { length: body.length, front: body.subarray(0, 64).toString() };
    const closed = { wrk, url: kith.url, requests, seconds: 20, connections: 32, expected };
    await closedLoad({ ...closed, seconds: 5 });
    const most = await closedLoad(closed);
    const rate = share * (most.answered / most.seconds);
    const minutes = 10;
    progress(`${Math.round(rate)} requests/s for ${minutes} minutes`);

    const memory: { seconds: number; bytes: number }[] = [];
    const began = performance.now();
    const sampling = setInterval(() => {
      memory.push({ seconds: (performance.now() - began) / 1_000, bytes: residentBytes(kith.gateway.pid) });
    }, sampleMs);
    const seconds = minutes * 60;
    const loaded = await openLoad({ ...closed, connections: 512, rate, seconds }).finally(() =>
      clearInterval(sampling),
    );

    const mean = (from: number, to: number) => {
      const some = memory.filter((one) => one.seconds >= from && one.seconds < to).map(({ bytes }) => bytes);
      return some.reduce((sum, bytes) => sum + bytes, 0) / some.length / 2 ** 20;
    };
    const [early, late] = [mean(120, 240), mean(seconds - 120, seconds)];
    return {
      json: { rate: Math.round(rate), ...loaded, memory_mib: { after_two_minutes: early, at_the_end: late } },
      markdown: [
        table(
          [
            'requests/s',
            'minutes',
            'p50 ms',
            'p99 ms',
            'longest ms',
            'wrong answers',
            'memory, minutes 2–4',
            'last two minutes',
          ],
          [
            [
              ...[
                Math.round(rate),
                minutes,
                ...[loaded.p50, loaded.p99, loaded.max].map(figure),
                loaded.wrong,
              ],
              ...[`${figure(early)} MiB`, `${figure(late)} MiB`],
            ],
          ],
        ),
        'wrk sends requests at a fixed rate over 512 connections. The time of a request starts when the request is due, even if it is sent later.',
      ].join('\n\n'),
      verdicts: [
        atMost('open loop: p99 over p50', loaded.p99 / loaded.p50, 5),
        // Resident memory goes up and down with the garbage collector, so a rise of 5 % is accepted. A leak of 100 bytes for
        // each request would be about 300 MiB after this time, and so would be noticed.
        atMost('open loop: memory at the end, over the memory after two minutes', late / early, 1.05),
        atMost('open loop: wrong answers', loaded.wrong, 0),
      ],
    };
  },
};
