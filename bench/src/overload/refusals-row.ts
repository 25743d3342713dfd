import { join } from 'node:path';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad, type Overloaded, overload } from '../load/wrk.ts';
import { atMost, figure, type Row, table } from '../row.ts';
import { median } from '../summary.ts';
import { pagePath, startWhole } from '../whole/platform.ts';
import { keepApart } from './keep-apart.ts';

const deadlineMs = 1_000;
const connections = 4_096;
const rounds = 3;
const seconds = 8;
const clients = 10;

/**
 * Measures how long refused requests wait. Some requests are refused by a limit, and others because the load is five times the
 * capacity.
 */
export const refusalsRow: Row = {
  name: 'refusals',
  title: 'Refused requests',
  isQuick: false,
  async measure({ engines, wrk, folder, progress }) {
    await using apart = await keepApart(engines);
    const { front, behind } = apart;
    await using platform = await startWhole({
      ...{ ...engines, folder, timeoutMs: deadlineMs, progress },
      ...{ cores: behind, gatewayCores: front },
    });
    const { url, expected, population } = platform;
    const requests = writeRequests(join(folder, 'refusals.requests'), population.requests, (asked) => ({
      path: pagePath(asked),
    }));
    const closed = { wrk, url, requests, seconds, connections: 32, expected, cores: front };
    await closedLoad(closed);
    const most = await closedLoad(closed);
    const capacity = most.answered / most.seconds;

    const [first] = population.people;
    if (!first) throw new Error('There are no users.');
    // All requests are for the same project. Requests are counted by project and client, so with several projects the requests
    // of a client would be spread over several counts.
    const asked = Array.from({ length: clients }, (_, at) => ({ person: first, address: `10.8.0.${at}` }));
    const few = writeRequests(join(folder, 'limited.requests'), asked, (one) => ({ path: pagePath(one) }));
    const limited = await platform.startGateway('limited', {
      'connections.list': { max: Math.max(1, Math.round((0.1 * capacity) / clients)), windowSeconds: 1 },
    });

    const byLimit: Overloaded[] = [];
    const byLoad: Overloaded[] = [];
    for (let round = 1; round <= rounds; round++) {
      const open = { ...closed, deadlineMs };
      byLimit.push(
        await overload({ ...open, url: limited, requests: few, connections: 512, rate: 0.5 * capacity }),
      );
      byLoad.push(await overload({ ...open, connections, rate: 5 * capacity }));
      await platform.settled();
      progress(
        `round ${round} of ${rounds}: ${JSON.stringify([byLimit.at(-1)?.statuses, byLoad.at(-1)?.statuses])}`,
      );
    }
    const p99 = (of: Overloaded[], status: 429 | 503 | 504) => {
      const each = of.flatMap(({ statuses }) => statuses[status]?.p99 ?? []);
      return each.length === 0 ? undefined : median(each.toSorted((a, b) => a - b));
    };
    const count = (of: Overloaded[], status: 200 | 429 | 503 | 504) =>
      of.reduce((sum, { statuses }) => sum + (statuses[status]?.count ?? 0), 0);
    const refused = {
      '429': p99(byLimit, 429),
      '503': p99(byLoad, 503),
      '504': p99(byLoad, 504),
    };
    const shown = (ms: number | undefined) => (ms === undefined ? 'none' : figure(ms));
    return {
      json: { capacity, p99: refused, by_limit: byLimit, by_load: byLoad },
      markdown: [
        table(
          ['refused', 'answers', 'p99 ms', 'answered 200 meanwhile'],
          [
            ['429, by a limit', count(byLimit, 429), shown(refused['429']), count(byLimit, 200)],
            ['503, under five times the load', count(byLoad, 503), shown(refused['503']), count(byLoad, 200)],
            ['504, under five times the load', count(byLoad, 504), shown(refused['504']), count(byLoad, 200)],
          ],
        ),
        `For 429, the load was half of what the whole path can answer, and a fifth of it was within the limit. For 503 and 504, the load was five times what the path can answer, and the gateway waited ${deadlineMs} ms for an answer. ${apart.told} Medians of ${rounds} rounds.`,
      ].join('\n\n'),
      verdicts: [
        atMost('refused by a limit: p99', refused['429'] ?? Number.POSITIVE_INFINITY, 100, ' ms'),
        // If there are no 503s, no request was refused early. In this case the times of the 504s are judged instead. A 504
        // answers a request that has waited until its deadline.
        atMost(
          'refused under five times the load: p99',
          refused['503'] ?? refused['504'] ?? Number.POSITIVE_INFINITY,
          100,
          ' ms',
        ),
        atMost(
          'refused requests: wrong answers',
          [...byLimit, ...byLoad].reduce((sum, one) => sum + one.wrong + one.failed, 0),
          0,
        ),
      ],
    };
  },
};
