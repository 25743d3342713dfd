import { join } from 'node:path';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad, openLoad, overload } from '../load/wrk.ts';
import { atMost, figure, type Row, spread, table } from '../row.ts';
import { ratio, summary } from '../summary.ts';
import { pagePath, startWhole } from '../whole/platform.ts';
import { keepApart } from './keep-apart.ts';

const rounds = 7;
const seconds = 8;
const noisyClients = 10;
/**
 * The quiet project's load and the noisy project's limit. Both are shares of the highest rate that the whole path can answer.
 * The whole path leads from the gateway to the database.
 */
const quietShare = 0.3;
const allowedShare = 0.05;
/** The noisy project's rate, as a multiple of its limit. */
const times = 5;

/** Measures how long a project's requests wait while another project is far over its limit. */
export const noisyRow: Row = {
  name: 'noisy',
  title: 'A noisy project beside another',
  isQuick: false,
  async measure({ engines, wrk, folder, progress }) {
    await using apart = await keepApart(engines);
    const { front, behind } = apart;
    await using platform = await startWhole({
      ...{ ...engines, folder, progress },
      ...{ cores: behind, gatewayCores: front },
    });
    const { population, expected } = platform;
    const all = writeRequests(join(folder, 'all.requests'), population.requests, (asked) => ({
      path: pagePath(asked),
    }));
    const closed = {
      wrk,
      url: platform.url,
      requests: all,
      seconds,
      connections: 32,
      expected,
      cores: front,
    };
    await closedLoad(closed);
    const most = await closedLoad(closed);
    const capacity = most.answered / most.seconds;

    const max = Math.max(1, Math.round((allowedShare * capacity) / noisyClients));
    const url = await platform.startGateway('limited', { 'connections.list': { max, windowSeconds: 1 } });
    const [quietOne, noisyOne] = population.people;
    if (!quietOne || !noisyOne) throw new Error('There are no users.');
    const written = (name: string, projectId: string, addresses: readonly string[]) => {
      const people = population.people.filter((person) => person.projectId === projectId);
      const asked = addresses.map((address, at) => ({
        person: people[at % people.length] ?? quietOne,
        address,
      }));
      return writeRequests(join(folder, `${name}.requests`), asked, (one) => ({ path: pagePath(one) }));
    };
    // There are so many quiet clients that each stays far below the limit, even if the next load uses the same clients without
    // a pause. The addresses of the loads above have already used up a part of their limits. So the quiet clients have other
    // addresses.
    const quietClients = Array.from({ length: 2_000 }, (_, at) => `10.9.${at >> 8}.${at & 255}`);
    const quiet = {
      ...{ ...closed, url, connections: 128, rate: quietShare * capacity },
      requests: written('quiet', quietOne.projectId, quietClients),
    };
    const noisy = {
      ...{ ...closed, url, connections: 512, rate: times * noisyClients * max, deadlineMs: 5_000 },
      requests: written(
        'noisy',
        noisyOne.projectId,
        Array.from({ length: noisyClients }, (_, at) => `10.8.0.${at}`),
      ),
    };
    await openLoad(quiet);
    const alone: { p50: number; p99: number }[] = [];
    const beside: { p50: number; p99: number }[] = [];
    let wrong = 0;
    let refused = 0;
    let passed = 0;
    for (let round = 1; round <= rounds; round++) {
      const one = await openLoad(quiet);
      const [other, noise] = await Promise.all([openLoad(quiet), overload(noisy)]);
      for (const [to, { p50, p99 }] of [[alone, one] as const, [beside, other] as const])
        to.push({ p50, p99 });
      wrong += one.wrong + other.wrong + noise.wrong + noise.failed;
      refused += noise.statuses[429]?.count ?? 0;
      passed += noise.statuses[200]?.count ?? 0;
      const first = one.firstWrong || other.firstWrong || noise.firstWrong;
      progress(
        `round ${round} of ${rounds}: p99 alone ${one.p99} ms, beside ${other.p99} ms${first && `, wrong: ${first}`}`,
      );
    }
    const [still, disturbed] = [summary(alone), summary(beside)];
    const line = (name: string, { median, least, most }: typeof still) => [
      name,
      figure(median.p50),
      spread(median.p99, least.p99, most.p99),
    ];
    return {
      json: {
        capacity,
        alone: still.median,
        beside: disturbed.median,
        p99_ratio: ratio(disturbed, still, 'p99'),
        noisy: { refused, passed },
        wrong,
      },
      markdown: [
        table(
          ['the quiet project', 'p50 ms', 'p99 ms'],
          [line('alone', still), line('beside the noisy one', disturbed)],
        ),
        `The quiet project sends ${Math.round(quiet.rate)} requests a second, ${quietShare * 100} % of the highest rate. The noisy project sends ${Math.round(noisy.rate)} requests a second, ${times} times its limit: ${refused} of its requests were refused, ${passed} were answered. ${apart.told} The quiet project was measured alone and beside the noisy project in turn, in ${rounds} rounds of ${seconds} s.`,
      ].join('\n\n'),
      verdicts: [
        atMost(
          "a quiet project's p99 beside a noisy one over its p99 alone",
          ratio(disturbed, still, 'p99'),
          1.25,
        ),
        atMost('wrong answers beside a noisy project', wrong, 0),
      ],
    };
  },
};
