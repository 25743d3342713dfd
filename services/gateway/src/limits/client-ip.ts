import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where a request comes from. */
export interface Client {
  ip: string;
  /** The key under which the client is counted. */
  key: string;
}

/** The parts of a request that tell where it comes from. */
type Origin = Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } };

/**
 * The cache holds texts that were read before: headers and addresses. With each text, it holds the client that was found in the
 * text. The cache holds at most `mostKept` texts. A text is cached if it has at most `longestKept` characters, which is enough
 * for a few IPv6 addresses.
 */
const mostKept = 10_000;
const longestKept = 200;
/** Some proxies append the client's port: `203.0.113.9:4711`, `[2001:db8::1]:4711`. */
const port = /^(?:([\d.]+)|\[(.*)\]):\d+$/;
/** The client of a socket that is already closed. Such a socket has no address. */
const nobody: Client = { ip: '0.0.0.0', key: '0.0.0.0' };

/**
 * Finds the client of a request. If proxies are trusted, the client is an entry of X-Forwarded-For: the address from which the
 * outermost trusted proxy got the request. If no proxy is trusted, or if the header is absent, the client is the socket's own
 * address (spec#limits-client-ip). A text that is not an IP address counts as absent, and the port that some proxies append is
 * left out. If a header or an address was read before, the client comes from a cache.
 */
export class Clients {
  readonly #hops: number;
  readonly #kept = new Map<string, Client>();

  /** @param hops The number of proxies in front of the gateway whose entries are trusted. */
  constructor(hops: number) {
    this.#hops = hops;
  }

  of({ headers, socket }: Origin): Client {
    const header = this.#hops === 0 ? undefined : (headers['x-forwarded-for'] as string | undefined);
    const named = header === undefined ? undefined : this.#read(header);
    return named ?? this.#read(socket.remoteAddress ?? '') ?? nobody;
  }

  /** The client that is named by a header or a socket's address. */
  #read(text: string): Client | undefined {
    const kept = this.#kept.get(text);
    if (kept) return kept;
    const named = this.#entryOf(text)?.replace(port, '$1$2');
    // Cuts off a zone (RFC 4007). A zone names an interface of one machine and may be any text.
    const entry = named?.split('%')[0];
    if (entry === undefined || isIP(entry) === 0) return undefined;
    // An IPv4-mapped IPv6 address counts as the IPv4 address.
    const ip = ipaddr.process(entry).toString();
    const client = { ip, key: limitKeyOf(ip) };
    if (this.#kept.size >= mostKept) this.#kept.clear();
    if (text.length <= longestKept) this.#kept.set(text, client);
    return client;
  }

  /**
   * The entry that the outermost trusted proxy has appended. Each proxy appends the address that the request came from. If there
   * are fewer entries than proxies, returns the first entry. `text` may be the socket's address, which counts as one entry.
   */
  #entryOf(text: string): string | undefined {
    if (!text.includes(',')) return text.trim();
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    return entries[Math.max(0, entries.length - this.#hops)];
  }
}

/** The key under which a client is counted: an IPv4 address, or the /64 network of an IPv6 address (spec#limits-ipv6). */
export function limitKeyOf(ip: string): string {
  const address = ipaddr.parse(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const network = new ipaddr.IPv6([...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0]);
  return `${network.toString()}/64`;
}
