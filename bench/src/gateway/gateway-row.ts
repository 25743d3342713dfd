import { join } from 'node:path';
import { readProfile, type Shares } from '../profile.ts';
import { atLeast, atMost, figure, type Row, spread, table, type Verdict } from '../row.ts';
import { ratio } from '../summary.ts';
import { type GatewayRow, measureGateways } from './row.ts';
import type { StackName } from './stacks.ts';

const titles: Partial<Record<StackName, string>> = {
  kith: "Kith's gateway",
  'kith-before': "Kith's gateway of the other checkout",
  nestjs: 'NestJS + NATS microservice',
  fastify: 'Fastify + HTTP',
  'express-http': 'Express + http-proxy-middleware',
  'express-nats': 'Express + NATS, plainly written',
  'floor-redis': 'floor with one Redis trip',
  floor: 'floor',
};

/** Measures only the gateways, in front of a service that answers without any work. */
export const gatewayRow: Row = {
  name: 'gateway',
  title: 'Gateway only',
  isQuick: true,
  async measure({ engines, wrk, folder, isQuick, before, progress }) {
    const { natsUrl, redisUrl } = engines;
    const row = await measureGateways({
      ...{ natsUrl, redisUrl, folder, before, progress },
      wrk,
      rounds: isQuick ? 5 : 20,
      seconds: isQuick ? 2 : 3,
      connections: 32,
    });
    const json = Object.fromEntries(
      Object.entries(row).map(([name, { median, wrong }]) => {
        const { rps, p50, p99, cpu_us } = median;
        return [name, { rps: Math.round(rps), p50, p99, cpu_us: Math.round(cpu_us), wrong }];
      }),
    );
    const profile = join(folder, 'profile');
    await measureGateways({
      ...{ natsUrl, redisUrl, folder, progress, profile, only: ['kith'] },
      wrk,
      rounds: 1,
      seconds: isQuick ? 3 : 8,
      connections: 32,
    });
    const markdown = [describe(row), describeProfile(readProfile(profile))].join('\n\n');
    return { json, markdown, verdicts: verdictsOf(row) };
  },
};

function describe(row: GatewayRow): string {
  const lines = Object.entries(row).map(([name, { median, least, most, wrong }]) => [
    titles[name as StackName] ?? name,
    spread(median.rps, least.rps, most.rps),
    figure(median.p50),
    spread(median.p99, least.p99, most.p99),
    figure(median.cpu_us),
    wrong,
  ]);
  return [
    table(
      ['stack', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs a request in the gateway', 'wrong answers'],
      lines,
    ),
    'The median of the rounds, and their range. The ratios above are the medians of the ratios in each round. wrk used 32 connections, each with one request at a time. Each request asked for a page of twenty connections.',
  ].join('\n\n');
}

function describeProfile(shares: Shares): string {
  const some = shares.slice(0, 12).map(([where, share]) => [where, `${(share * 100).toFixed(1)} %`]);
  return [
    "Where Kith's gateway spent its time in a separate round, by V8's profiler:",
    table(['part', 'of its busy time'], some),
  ].join('\n\n');
}

function verdictsOf(row: GatewayRow): Verdict[] {
  const over = (name: StackName) => ratio(row.kith, row[name], 'rps');
  const peers: StackName[] = ['nestjs', 'fastify', 'express-http', 'express-nats'];
  const p99 = Math.max(...peers.map((name) => ratio(row.kith, row[name], 'p99')));
  return [
    atLeast('gateway over NestJS', over('nestjs'), 4),
    atLeast('gateway over plain Express + NATS', over('express-nats'), 2),
    atLeast('gateway over Fastify', over('fastify'), 1.8),
    atLeast('gateway over the floor with one Redis trip', over('floor-redis'), 0.8),
    atLeast('gateway over the bare floor', over('floor'), 0.65),
    atMost("gateway's p99 over the best peer's", p99, 1),
    atMost('wrong answers of the gateway', row.kith.wrong, 0),
  ];
}
