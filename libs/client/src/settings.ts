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

/** What all calls of a client go by, but for its tokens. */
export function connectionSettings(
  options: ConnectionOptions,
  projectId?: string,
): Omit<CallSettings, 'tokens'> {
  const url = options.url.replace(/\/+$/, '');
  return {
    url,
    projectUrl: `${url}/v7/${projectId}`,
    // Called as a function of its own: browsers refuse `fetch` as somebody's method.
    fetch: options.fetch ?? ((address, init) => fetch(address, init)),
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    retries: options.retries ?? defaults.retries,
  };
}
