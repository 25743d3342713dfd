import type { TraceSpan, Tracing } from '@kith/base';
import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent, MongoClient } from 'mongodb';

/**
 * Makes a span for each command that traced work sends to a database. A span has a command's name and collection, never its
 * content. For a failure, the span has only the code or the name of the error, because the text of a duplicate-key error quotes
 * the value.
 */
export function traceCommands(client: MongoClient, tracing: Tracing): void {
  const open = new Map<string, TraceSpan>();
  client.on('commandStarted', (event) => {
    if (tracing.active() === undefined) return;
    const { databaseName, commandName } = event;
    const collection = collectionOf(event);
    const span = tracing.start(collection ? `${commandName} ${collection}` : commandName, {
      kind: 'client',
      attributes: {
        'db.system.name': 'mongodb',
        'db.namespace': databaseName,
        'db.operation.name': commandName,
        'db.collection.name': collection,
        ...serverOf(event.address),
      },
    });
    open.set(keyOf(event), span);
  });
  const end = (event: CommandSucceededEvent | CommandFailedEvent, failure?: string) => {
    const key = keyOf(event);
    open.get(key)?.end(failure);
    open.delete(key);
  };
  client.on('commandSucceeded', (event) => end(event));
  client.on('commandFailed', (event) => {
    const { name, code } = event.failure as Error & { code?: unknown };
    end(event, typeof code === 'number' ? String(code) : name);
  });
}

/** The key includes the connection, because two connections may use the same request numbers. */
function keyOf(event: { address: string; connectionId?: unknown; requestId: number }): string {
  return `${event.address} ${event.connectionId} ${event.requestId}`;
}

function collectionOf({ commandName, command }: CommandStartedEvent): string | undefined {
  const named = commandName === 'getMore' ? command.collection : command[commandName];
  return typeof named === 'string' ? named : undefined;
}

function serverOf(address: string): { 'server.address': string; 'server.port'?: number } {
  const at = address.lastIndexOf(':');
  const port = Number(address.slice(at + 1));
  if (at < 0 || !Number.isInteger(port)) return { 'server.address': address };
  return { 'server.address': address.slice(0, at), 'server.port': port };
}
