import { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import { type OperationHandler, serveOperation } from '@kith/service';
import { createBus, testLog } from './parts.ts';

/**
 * Serves operations on a bus in this process, without the background work of their service. Checks answers against the contract. If
 * `checkOutput` is `false`, does not check answers, as in production.
 */
export async function serveAlone<App>(
  handlers: readonly OperationHandler<App>[],
  appOn: (bus: Bus) => App,
  { checkOutput = true }: { checkOutput?: boolean } = {},
): Promise<Bus & AsyncDisposable> {
  const bus = await createBus('embedded');
  const log = testLog();
  const options = { bus, log, metrics: new Metrics(), app: appOn(bus), checkOutput };
  for (const handler of handlers) await serveOperation(handler, options);
  return bus;
}
