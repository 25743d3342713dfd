import { atLeast, atMost, figure, type Row, spread, table } from '../row.ts';
import { ratio } from '../summary.ts';
import { measureWhole } from './row.ts';

/** Measures requests on the whole path from the gateway to the database, and compares them with the database driver alone. */
export const wholeRow: Row = {
  name: 'whole',
  title: 'Whole path with the database',
  isQuick: true,
  compared: ({ kith, driver }: Record<'kith' | 'driver', { rps: number }>) => [
    { name: 'pages a second', value: kith.rps, better: 'more' },
    { name: 'pages a second, over the driver alone', value: kith.rps / driver.rps, better: 'more' },
  ],
  async measure({ engines, wrk, folder, isQuick, progress }) {
    const { mongodbUrl, natsUrl, redisUrl } = engines;
    const cores = engines.canPin ? { database: '0', others: '1' } : null;
    if (cores) {
      await engines.pin(['mongo'], cores.database);
      await engines.pin(['nats', 'redis'], cores.others);
    }
    const row = await measureWhole({
      ...{ mongodbUrl, natsUrl, redisUrl, folder, cores, progress },
      wrk,
      rounds: isQuick ? 2 : 7,
      seconds: isQuick ? 4 : 8,
      connections: 32,
    });
    await engines.pin(['mongo', 'nats', 'redis'], undefined);
    const { kith, driver, cpu_us } = row;
    const line = (name: string, { median, least, most }: typeof kith) => [
      name,
      spread(median.rps, least.rps, most.rps),
      figure(median.p50),
      figure(median.p99),
    ];
    const pinned = cores
      ? `The database ran on core ${cores.database} alone (\`docker update --cpuset-cpus\`), and everything else on core ${cores.others} (\`taskset -c\`).`
      : 'Nothing was pinned: the engines were given by URL.';
    const costs = Object.entries(cpu_us).map(([name, micros]) => `${name} ${figure(micros)} µs`);
    return {
      json: {
        kith: { ...rounded(kith.median), wrong: kith.wrong },
        driver: rounded(driver.median),
        cpu_us,
      },
      markdown: [
        table(
          ['', 'pages/s', 'p50 ms', 'p99 ms'],
          [line('Kith, over HTTP', kith), line('the driver alone, the same queries', driver)],
        ),
        `${pinned} 32 requests were open at once. CPU time per request: ${costs.join(', ')}.`,
      ].join('\n\n'),
      verdicts: [
        atLeast('whole path over the driver alone', ratio(kith, driver, 'rps'), 0.85),
        atMost('wrong answers of the whole path', kith.wrong, 0),
      ],
    };
  },
};

function rounded({ rps, p50, p99 }: { rps: number; p50: number; p99: number }) {
  return { rps: Math.round(rps), p50, p99 };
}
