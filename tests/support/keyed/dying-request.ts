import { operations } from '@kith/contracts';
import { callOperation, type OperationCall } from '@kith/testing/call-operation';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import { type Stores, startServices } from './services.ts';

/** The task of the child process: a request, and the write before which the process has to die. */
export interface DyingRequest {
  /** The stores of the services that the process starts. */
  stores: Stores;
  operation: string;
  call: OperationCall;
  number: number;
}

const work: DyingRequest = JSON.parse(process.argv[2] ?? '{}');
const spec = operations.find(({ name }) => name === work.operation);
if (!spec) throw new Error(`There is no ${work.operation}.`);
const started = await startServices(work.stores, { isDeaf: true });
dieBeforeWrite(work.number);
const { status } = await callOperation(started.bus, spec, { ...work.call, timeoutMs: 5_000 });
if (status === spec.status) process.stdout.write('acknowledged');
// Exits without stopping the services, because stopping them would make more writes.
process.stdout.write('', () => process.exit(0));
