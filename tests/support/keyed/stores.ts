import { type OperationSpec, serviceOf } from '@kith/contracts';
import { storingNames } from '@kith/platform';
import { createStore, type EngineKind } from '@kith/testing';
import type { Stores } from './services.ts';

/** Makes a store for each storing service. Disposing `undo` erases the stores. */
export async function makeStores(engine: EngineKind, undo: AsyncDisposableStack): Promise<Stores> {
  const stores = storingNames.map(
    async (name) => [name, undo.use(await createStore(engine)).config] as const,
  );
  return Object.fromEntries(await Promise.all(stores));
}

/**
 * The stores of the services that an operation needs. These services are the operation's own service, and identity, because the
 * other services send requests to identity.
 */
export function storesOf(spec: OperationSpec, stores: Stores): Stores {
  const needed = ['identity', serviceOf(spec)];
  return Object.fromEntries(Object.entries(stores).filter(([name]) => needed.includes(name)));
}
