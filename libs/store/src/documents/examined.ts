/** What is found in a service's database. */
export interface Examined {
  /** Declared indexes and tables that are not there. */
  missing: readonly string[];
  /** The damage that the engine reports, if any. */
  damage: string | undefined;
  /** Only for a database on a server. */
  server?: ExaminedServer;
}

/** A database server. */
export interface ExaminedServer {
  version: string;
  /** How far the server's clock is ahead of this machine's clock, in ms. */
  aheadMs: number;
  /** Whether the server has authenticated the connection. */
  asksWho: boolean;
}
