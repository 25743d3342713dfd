import { createLogger, Metrics } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { requestConnection } from '@kith/contracts';
import type { StoreConfig } from '@kith/store';
import { callerOf, callOperation } from '@kith/testing';
import { startConnections } from '../../src/index.ts';

/** The child's task: where its data is, and which user (`from`) requests a connection to which user (`to`). */
export interface DyingWork {
  store: StoreConfig;
  projectId: string;
  from: string;
  to: string;
}

const { store, projectId, from, to }: DyingWork = JSON.parse(process.argv[2] ?? '{}');
const log = createLogger({ name: 'child', level: 'silent' });
const bus = new InProcessBus({ prefix: 'child', file: ':memory:', log });
// The process dies here: the change is stored, and its event is about to be published.
bus.publish = async () => {
  process.kill(process.pid, 'SIGKILL');
  return 0;
};
await startConnections({ bus, log, metrics: new Metrics(), nodeEnv: 'test' }, { store });
await callOperation(bus, requestConnection, { projectId, caller: callerOf(from), params: { userId: to } });
