import { atMost, figure, type Row, spread, table } from '../row.ts';
import { measureStart, type StartFigures } from './measure.ts';

/** Measures how soon processes answer after their start, and how much memory they take. */
export const startRow: Row = {
  name: 'start',
  title: 'Starts and memory',
  isQuick: false,
  async measure({ engines, wrk, folder, isQuick, progress }) {
    const { natsUrl, mongodbUrl, redisUrl } = engines;
    const seconds = isQuick ? 10 : 600;
    const figures = await measureStart({
      ...{ natsUrl, mongodbUrl, redisUrl, folder, progress, seconds },
      wrk,
      rounds: 5,
    });
    const { processes, load, embedded } = figures;
    const started = Object.entries(processes).map(([name, { start }]) => [name, start.median.ms] as const);
    return {
      json: {
        processes: Object.fromEntries(
          Object.entries(processes).map(([name, { start, idle, loaded }]) => [
            name,
            { ms: start.median.ms, idle_mib: idle, loaded_mib: loaded },
          ]),
        ),
        load,
        embedded_ms: embedded.median.ms,
      },
      markdown: describe(figures, seconds),
      verdicts: [
        ...started.map(([name, ms]) => atMost(`start of ${name}, to its first answer`, ms / 1_000, 1, ' s')),
        atMost('second `npm start`', embedded.median.ms / 1_000, 3, ' s'),
        atMost('wrong answers after the starts', load.wrong, 0),
      ],
    };
  },
};

function describe({ processes, load, embedded }: StartFigures, seconds: number): string {
  const ms = ({ median, least, most }: StartFigures['embedded']) => spread(median.ms, least.ms, most.ms);
  const lines = Object.entries(processes).map(([name, { start, idle, loaded }]) => [
    name,
    ms(start),
    figure(idle),
    figure(loaded),
  ]);
  return [
    table(
      ['process', 'ms to the first answer', 'memory MiB, idle', 'after the load'],
      [...lines, ['`npm start`, from the second on', ms(embedded), '', '']],
    ),
    `The median of the starts, and their range. A start lasts from spawning the process until it has answered a request that needs its store. The processes use a compile cache, as they do in the images. For the last column, wrk loaded the platform for ${seconds} s over 32 connections, with ${Math.round(load.answered / load.seconds)} requests/s, spread evenly over six operations that reach all services.`,
  ].join('\n\n');
}
