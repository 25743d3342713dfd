import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Picks the client's address. `forwarded` is Express's `request.ip`: the entry of X-Forwarded-For just beyond the
 * trusted proxies, or the socket's own with none trusted. What is no IP address there counts as absent. An
 * IPv4-mapped address is the IPv4 one.
 */
export function clientIpOf(forwarded: string | undefined, socketAddress: string | undefined): string {
  const ip = [forwarded, socketAddress].find((one) => one !== undefined && isIP(one) > 0);
  // A socket that is already gone tells no address.
  return ip === undefined ? '0.0.0.0' : ipaddr.process(ip).toString();
}

/** What a client counts under: an IPv4 address, or the /64 of an IPv6 one (SPEC A5). */
export function limitKeyOf(ip: string): string {
  const address = ipaddr.parse(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const network = new ipaddr.IPv6([...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0]);
  return `${network.toString()}/64`;
}
