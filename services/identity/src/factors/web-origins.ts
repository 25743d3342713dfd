import { ApiError } from '@kith/base';
import { listsOrigin } from '@kith/contracts';

/** The host of pages during development. If a project lists no web origins, only pages of this host may use passkeys. */
const localhost = 'localhost';

/**
 * Checks the relying party's id of a new passkey. The id must be the host of one of the project's web origins, or a domain
 * above such a host (spec#accounts-factors-rp-id). Throws `auth/invalid-rp-id`.
 */
export function checkRpId(rpId: string | undefined, webOrigins: readonly string[]): string {
  const hosts = webOrigins.length > 0 ? webOrigins.map(hostOf) : [localhost];
  if (rpId !== undefined && hosts.some((host) => isWithin(host, rpId) || isOneOf(host, rpId))) return rpId;
  throw new ApiError('auth/invalid-rp-id', { field: 'rpId' });
}

/** Returns whether a page of this origin may use a passkey of this relying party. */
export function mayUsePasskey(origin: string, rpId: string, webOrigins: readonly string[]): boolean {
  if (!URL.canParse(origin) || !isWithin(hostOf(origin), rpId)) return false;
  return webOrigins.length > 0 ? listsOrigin(webOrigins, origin) : hostOf(origin) === localhost;
}

function isWithin(host: string, rpId: string): boolean {
  return host === rpId || (rpId.includes('.') && host.endsWith(`.${rpId}`));
}

/** Whether a host matches a pattern such as `*.example.com`. */
function isOneOf(hosts: string, host: string): boolean {
  return hosts.startsWith('*.') && host.replace(/^[^.]+/, '*') === hosts;
}

function hostOf(origin: string): string {
  return new URL(origin).hostname;
}
