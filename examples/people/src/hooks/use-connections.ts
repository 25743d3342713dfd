import type { Connection, ConnectionRequest, StandingBlock } from '@kith/client';
import { useKith } from './use-kith.ts';
import { useList, type Walk } from './use-list.ts';

/** The signed-in user's connections whose name contains `query`, newest first. */
export function useConnections(query: string): Walk<Connection> {
  const kith = useKith();
  return useList(`connections ${query}`, 'connections', (signal) =>
    kith.connections.list({ limit: 20, ...(query && { query }) }, { signal }),
  );
}

/**
 * The pending requests. `received` requests wait for the signed-in user's answer. `sent` requests wait for somebody else's
 * answer.
 */
export function useRequests(side: 'received' | 'sent'): Walk<ConnectionRequest> {
  const kith = useKith();
  const list = side === 'received' ? kith.connections.listReceived : kith.connections.listSent;
  return useList(side, 'connections', (signal) => list({ limit: 20 }, { signal }));
}

/** The people whom the signed-in user blocks. */
export function useBlocks(): Walk<StandingBlock> {
  const kith = useKith();
  return useList('blocks', 'connections', (signal) => kith.connections.listBlocks({ limit: 20 }, { signal }));
}
