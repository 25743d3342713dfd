import { join } from 'node:path';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad, type Overloaded, overload } from '../load/wrk.ts';
import { atLeast, atMost, figure, type Row, table } from '../row.ts';
import { median } from '../summary.ts';
import { pagePath, startWhole } from '../whole/platform.ts';
import { keepApart } from './keep-apart.ts';

const times = 5;
/**
 * The deadline of a request, in ms. It is so short that there are enough connections for the load even if every request waits
 * until its deadline.
 */
const deadlineMs = 1_000;
const connections = 4_096;
const rounds = 3;
const seconds = 10;

/**
 * Sends five times as many requests as the whole path can answer. The whole path leads from the gateway to the database.
 * Measures how many of these requests are still answered in time.
 */
export const overloadRow: Row = {
  name: 'overload',
  title: `${times} times the load`,
  isQuick: false,
  async measure({ engines, wrk, folder, progress }) {
    await using apart = await keepApart(engines);
    const { front, behind } = apart;
    await using platform = await startWhole({
      ...{ ...engines, folder, timeoutMs: deadlineMs, progress },
      ...{ cores: behind, gatewayCores: front },
    });
    const { url, expected, population } = platform;
    const requests = writeRequests(join(folder, 'overload.requests'), population.requests, (asked) => ({
      path: pagePath(asked),
    }));
    const closed = { wrk, url, requests, seconds, connections: 32, expected, cores: front };
    await closedLoad(closed);
    const found: (Overloaded & { capacity: number; goodput: number })[] = [];
    for (let round = 1; round <= rounds; round++) {
      const most = await closedLoad(closed);
      const capacity = most.answered / most.seconds;
      const loaded = await overload({ ...closed, connections, rate: times * capacity, deadlineMs });
      await platform.settled();
      const goodput = loaded.good / loaded.seconds / capacity;
      found.push({ ...loaded, capacity, goodput });
      progress(
        `round ${round} of ${rounds}: ${Math.round(capacity)}/s alone, then ${goodput.toFixed(2)} of it; ${JSON.stringify(loaded)}`,
      );
    }
    const middle = median(found.map(({ goodput }) => goodput).toSorted((a, b) => a - b));
    const wrong = found.reduce((sum, one) => sum + one.wrong + one.failed, 0);
    const told = (one: Overloaded, status: 200 | 503 | 504) => {
      const { count, p50, p99 } = one.statuses[status] ?? { count: 0, p50: 0, p99: 0 };
      return count === 0 ? '0' : `${count}, ${figure(p50)}, ${figure(p99)}`;
    };
    return {
      json: { goodput: middle, rounds: found },
      markdown: [
        table(
          [
            'highest rate of a closed loop, requests/s',
            'sent/s',
            'left out/s',
            'good/s',
            'share',
            '200: number, p50, p99 ms',
            '503',
            '504',
            'wrong',
          ],
          found.map((one) => [
            ...[one.capacity, one.sent / one.seconds, one.leftOut / one.seconds, one.good / one.seconds].map(
              Math.round,
            ),
            one.goodput.toFixed(2),
            ...([200, 503, 504] as const).map((status) => told(one, status)),
            one.wrong + one.failed,
          ]),
        ),
        `Each round first measures the highest rate over 32 connections, then sends ${times} times as many requests over ${connections} connections. An answer is good if it is 200 and comes within ${deadlineMs} ms after the request was due (the gateway's \`REQUEST_TIMEOUT_MS\` here). ${apart.told} Requests that were due while every connection waited for an answer were not sent, and count as left out.`,
      ].join('\n\n'),
      verdicts: [
        atLeast(`goodput under ${times} times the load, over the highest rate`, middle, 0.8),
        atMost(`wrong answers under ${times} times the load`, wrong, 0),
      ],
    };
  },
};
