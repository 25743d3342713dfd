import type { CallSettings, Tokens } from './call.ts';
import { checkedHeaders } from './exchange.ts';
import { type MethodGroups as ApplicationGroups, operations } from './generated/application.ts';
import { type MethodGroups as ServerGroups, operations as serverOperations } from './generated/server.ts';
import { methodsOf } from './methods.ts';
import { type ConnectionOptions, checkedProjectId, connectionSettings } from './settings.ts';

export interface ServerClientOptions extends ConnectionOptions {
  projectId: string;
  /** A server key of the project, `kith_sk_…`. Use it on a server, and never in a page. */
  serverKey: string;
}

/**
 * A project's API on behalf of one of its users. It has all methods for users, except the methods for sessions and the methods
 * that delete or export the account.
 */
export type OnBehalfOf = Omit<ApplicationGroups, 'auth' | 'users'> & {
  readonly users: Omit<ApplicationGroups['users'], 'delete' | 'export'>;
};

/** A project's API for the application's own back end. */
export interface ServerClient {
  readonly users: Pick<ApplicationGroups['users'], 'get' | 'getByUsername' | 'getByForeignId'> &
    ServerGroups['users'];
  readonly notifications: ServerGroups['notifications'];
  /**
   * Returns methods that do what a user of the project could do, on behalf of that user. Throws `TypeError` if a header cannot
   * carry `userId`.
   */
  onBehalfOf(userId: string): OnBehalfOf;
}

/** Makes a client of a project for a back end, with a server key. Throws `TypeError` as `createClient` does. */
export function createServerClient(options: ServerClientOptions): ServerClient {
  const tokens: Tokens = {
    token: async () => options.serverKey,
    tokenInsteadOf: async () => undefined,
    noteRefusal: async () => {},
  };
  const connection = connectionSettings(options, checkedProjectId(options.projectId));
  const settings: CallSettings = { ...connection, tokens };
  const { users } = methodsOf(settings, operations) as unknown as ApplicationGroups;
  const own = methodsOf(settings, serverOperations) as unknown as ServerGroups;
  return {
    users: {
      get: users.get,
      getByUsername: users.getByUsername,
      getByForeignId: users.getByForeignId,
      ...own.users,
    },
    notifications: own.notifications,
    onBehalfOf(userId) {
      const behalf = checkedHeaders({ 'on-behalf-of': userId });
      const fetch: CallSettings['fetch'] = (address, init, alive) => {
        const headers = { ...(init.headers as Record<string, string>), ...behalf };
        return settings.fetch(address, { ...init, headers }, alive);
      };
      return methodsOf({ ...settings, fetch }, operations) as unknown as OnBehalfOf;
    },
  };
}

export { isKithError, KithError, KithNetworkError } from './errors.ts';
export type { List, Page } from './list.ts';
