import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where a request comes from. */
export interface Client {
  ip: string;
  /** What it counts under in a limit. */
  key: string;
}

/** Clients whose addresses are kept as they were read, and how long such a text may be: two IPv6 addresses. */
const mostKept = 10_000;
const longestKept = 100;

/**
 * Tells the client of a request: the entry of X-Forwarded-For just beyond the trusted proxies, or the socket's own
 * address with none trusted (SPEC A5). An address that was read before is not read again.
 */
export class Clients {
  readonly #hops: number;
  readonly #kept = new Map<string, Client>();

  /** @param hops Proxies in front whose entries are believed. */
  constructor(hops: number) {
    this.#hops = hops;
  }

  of({
    headers,
    socket,
  }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } }): Client {
    const { remoteAddress } = socket;
    const forwarded = this.#forwarded(headers['x-forwarded-for'] as string | undefined) ?? remoteAddress;
    const text = `${forwarded} ${remoteAddress}`;
    const kept = this.#kept.get(text);
    if (kept) return kept;
    const ip = clientIpOf(forwarded, remoteAddress);
    const client = { ip, key: limitKeyOf(ip) };
    if (this.#kept.size >= mostKept) this.#kept.clear();
    if (text.length <= longestKept) this.#kept.set(text, client);
    return client;
  }

  /** The first entry beyond the trusted proxies, or the first of all; each proxy appends the address it was asked from. */
  #forwarded(header: string | undefined): string | undefined {
    if (this.#hops === 0 || header === undefined) return undefined;
    const entries = header
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    return entries[Math.max(0, entries.length - this.#hops)];
  }
}

/** Picks the client's address. What is no IP address counts as absent. An IPv4-mapped address is the IPv4 one. */
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
