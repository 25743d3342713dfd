import { atLeast, atMost, figure, type Row, spread, table } from '../row.ts';
import { ratio } from '../summary.ts';
import { measureSigning } from './row.ts';

/** Measures how fast Kith signs test tokens, compared with OpenSSL alone. */
export const signingRow: Row = {
  name: 'signing',
  title: 'sign-testing-jwt',
  isQuick: true,
  async measure({ engines, wrk, folder, isQuick, progress }) {
    const { natsUrl, redisUrl } = engines;
    const cores = engines.canPin ? { signing: '0', others: '1' } : null;
    if (cores) await engines.pin(['nats', 'redis'], cores.others);
    const { kith, openssl, node } = await measureSigning({
      ...{ natsUrl, redisUrl, folder, cores, progress },
      wrk,
      rounds: isQuick ? 2 : 10,
      seconds: isQuick ? 3 : 4,
      connections: 32,
    });
    await engines.pin(['nats', 'redis'], undefined);
    const pinned = cores
      ? `The crypto service, \`openssl speed -elapsed rsa2048\` and Node alone ran on core ${cores.signing}, one after the other. Everything else ran on core ${cores.others}.`
      : 'Nothing was pinned: the engines were given by URL.';
    return {
      json: {
        kith: { ...kith.median, rps: Math.round(kith.median.rps), wrong: kith.wrong },
        openssl: openssl.median,
        node: node.median,
      },
      markdown: [
        table(
          ['', 'signatures/s', 'p50 ms', 'p99 ms', 'CPU µs a signature'],
          [
            [
              'Kith, over HTTP',
              spread(kith.median.rps, kith.least.rps, kith.most.rps),
              ...[kith.median.p50, kith.median.p99, kith.median.cpu_us].map(figure),
            ],
            [
              'OpenSSL',
              spread(openssl.median.rps, openssl.least.rps, openssl.most.rps),
              '',
              '',
              figure(1e6 / openssl.median.rps),
            ],
            [
              'Node alone, one key object',
              spread(node.median.rps, node.least.rps, node.most.rps),
              '',
              '',
              '',
            ],
          ],
        ),
        pinned,
      ].join('\n\n'),
      verdicts: [
        atLeast("signing over OpenSSL's rate", ratio<{ rps: number }>(kith, openssl, 'rps'), 0.85),
        atMost('wrong answers of signing', kith.wrong, 0),
      ],
    };
  },
};
