import type { CallSettings } from './call.ts';
import type { Fetch } from './exchange.ts';

/** How a client reaches the platform. */
export interface ConnectionOptions {
  /** The address of the platform, such as `https://api.example.org`. */
  url: string;
  /** Used instead of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** How long an attempt may take, in ms. Default: 10,000. An attempt to refresh the session takes no longer than the default. */
  timeoutMs?: number | undefined;
  /** How many times a call is tried again if another attempt is safe. Default: 3. A refresh is tried again at least once. */
  retries?: number | undefined;
}

const defaults = { timeoutMs: 10_000, retries: 3 };

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The settings of all calls of a client, except its tokens. Throws a `TypeError` that names the invalid option. */
export function connectionSettings(
  options: ConnectionOptions,
  projectId?: string,
): Omit<CallSettings, 'tokens'> {
  // The message does not quote the address, which may hold a password.
  if (!isAddress(options.url))
    throw new TypeError('url must be an address such as "https://api.example.org".');
  const url = options.url.replace(/\/+$/, '');
  return {
    url,
    projectUrl: `${url}/v7/${projectId}`,
    // This function is needed, because browsers throw if `fetch` is called as a method of another object.
    fetch: (address, init) => (options.fetch ?? fetch)(address, init),
    hasOwnFetch: options.fetch !== undefined,
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    retries: options.retries ?? defaults.retries,
  };
}

/** Returns the id unchanged. Throws `TypeError` if the id is not a UUID. */
export function checkedProjectId(projectId: string): string {
  if (uuid.test(projectId)) return projectId;
  throw new TypeError(`projectId must be the UUID of a project, not "${projectId}".`);
}

/** Whether paths can be appended to an address. */
function isAddress(url: string): boolean {
  try {
    const { protocol, username, password, search, hash } = new URL(url);
    // `fetch` refuses an address with a user name or password.
    return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
  } catch {
    return false;
  }
}
