import { join } from 'node:path';
import { countForeignAnswers } from '../load/check-each.ts';
import type { LoadOptions } from '../load/options.ts';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad } from '../load/wrk.ts';
import { pageFor, samplePage } from '../page.ts';
import { makePopulation } from '../population.ts';
import { cpuMicros } from '../processes.ts';
import { type Figures, summary } from '../summary.ts';
import { type Stack, type StackName, startStacks } from './stacks.ts';

/** One measurement of a stack. Times are in ms. The CPU time of the gateway's process is in µs for each request. */
export interface GatewaySample {
  rps: number;
  p50: number;
  p99: number;
  cpu_us: number;
  wrong: number;
}

export type GatewayRow = Record<StackName, Figures<GatewaySample>>;

export interface GatewayOptions extends LoadOptions {
  only?: readonly StackName[] | undefined;
  profile?: string | undefined;
  before?: string | undefined;
}

/**
 * Measures the gateways in rounds. Each round measures every stack once, so that other work on the machine affects all stacks
 * equally. Every stack is warmed up first. Before and after the rounds, every user makes one request to each stack, to check
 * that all users get their own pages.
 */
export async function measureGateways(options: GatewayOptions): Promise<GatewayRow> {
  const { folder, rounds, progress } = options;
  const population = await makePopulation();
  const page = samplePage();
  await using stacks = await startStacks({ ...options, population, page });
  const chosen = stacks.all;
  const requests = writeRequests(join(folder, 'gateway.requests'), population.requests, ({ person }) => ({
    path: `/${person.projectId}/connections?page=1&limit=20`,
  }));
  const sample = pageFor(page)(population.people[0]?.userId ?? '');
  const expected = { length: sample.length, front: sample.subarray(0, 64).toString() };
  const load = async (stack: Stack, seconds: number): Promise<GatewaySample> => {
    const before = cpuMicros(stack.gateway.pid);
    const { wrk, connections } = options;
    const loaded = await closedLoad({ wrk, url: stack.url, requests, seconds, connections, expected });
    const used = cpuMicros(stack.gateway.pid) - before;
    if (loaded.wrong > 0) progress(`${stack.name}: ${loaded.wrong} wrong, the first: ${loaded.firstWrong}`);
    const { answered, p50, p99, wrong } = loaded;
    return { rps: answered / loaded.seconds, p50, p99, cpu_us: used / answered, wrong };
  };
  const foreign = async (stack: Stack) => countForeignAnswers(stack.url, population.people);

  const samples = new Map<StackName, GatewaySample[]>();
  for (const stack of chosen) {
    await load(stack, warmSeconds);
    samples.set(stack.name, [{ ...nothing, wrong: await foreign(stack) }]);
  }
  for (let round = 1; round <= rounds; round++) {
    for (const stack of chosen) {
      const measured = await load(stack, options.seconds);
      progress(
        `round ${round} of ${rounds}: ${stack.name} ${Math.round(measured.rps)}/s, p99 ${measured.p99} ms, ${Math.round(measured.cpu_us)} µs`,
      );
      samples.get(stack.name)?.push(measured);
    }
  }
  for (const stack of chosen) samples.get(stack.name)?.push({ ...nothing, wrong: await foreign(stack) });
  return Object.fromEntries(
    [...samples].map(([name, all]) => [
      name,
      summary(
        all.filter(({ rps }) => rps > 0),
        all.reduce((sum, { wrong }) => sum + wrong, 0),
      ),
    ]),
  ) as GatewayRow;
}

/** How long the warm-up takes. After this time, V8 has compiled most of the code that runs often. */
const warmSeconds = 5;
const nothing: GatewaySample = { rps: 0, p50: 0, p99: 0, cpu_us: 0, wrong: 0 };
