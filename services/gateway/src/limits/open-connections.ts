import type { Socket } from 'node:net';
import { Clients } from './client-ip.ts';

/** Counts the open connections of each client. All IPv6 addresses of one /64 are one client (spec#limits-ipv6). */
export class OpenConnections {
  readonly #most: number;
  /** Trusts no proxies, because a connection has no headers yet. */
  readonly #clients = new Clients(0);
  readonly #counts = new Map<string, number>();

  /** @param most The maximum number of open connections of one client. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a connection until it closes. If its client has the maximum already, returns `false` and does not count it. */
  admit(socket: Pick<Socket, 'remoteAddress' | 'once'>): boolean {
    const { key } = this.#clients.of({ headers: {}, socket });
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > this.#most) return false;
    this.#counts.set(key, count);
    socket.once('close', () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    });
    return true;
  }
}
