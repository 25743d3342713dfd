import type { CallSettings } from './call.ts';
import type { Fetch } from './exchange.ts';

/** How a client reaches the platform. */
export interface ConnectionOptions {
  /** Where the platform is, `https://api.example.org`. */
  url: string;
  /** Stands in for the global `fetch`. */
  fetch?: Fetch | undefined;
  /** How long an attempt may take, in ms. Default: 10,000. */
  timeoutMs?: number | undefined;
  /** How often a call is tried again, where that can do no harm. Default: 3. */
  retries?: number | undefined;
}

const defaults = { timeoutMs: 10_000, retries: 3 };

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What all calls of a client go by, but for its tokens. Throws `TypeError` that names the option no call could go by. */
export function connectionSettings(
  options: ConnectionOptions,
  projectId?: string,
): Omit<CallSettings, 'tokens'> {
  // Not quoted: an address may hold a password.
  if (!isAddress(options.url))
    throw new TypeError('url must be an address such as "https://api.example.org".');
  const url = options.url.replace(/\/+$/, '');
  return {
    url,
    projectUrl: `${url}/v7/${projectId}`,
    // Wrapped in a function: browsers throw when `fetch` is called as a method of another object.
    fetch: (address, init) => (options.fetch ?? fetch)(address, init),
    hasOwnFetch: options.fetch !== undefined,
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    retries: options.retries ?? defaults.retries,
  };
}

/** The id as it is. Throws `TypeError` where it names no project. */
export function checkedProjectId(projectId: string): string {
  if (uuid.test(projectId)) return projectId;
  throw new TypeError(`projectId must be the UUID of a project, not "${projectId}".`);
}

/** Whether paths can be put behind an address. */
function isAddress(url: string): boolean {
  try {
    const { protocol, search, hash } = new URL(url);
    return /^https?:$/.test(protocol) && !search && !hash;
  } catch {
    return false;
  }
}
