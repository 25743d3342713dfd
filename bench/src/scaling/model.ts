/** What one request of the load costs in each part; CPU time in µs, as `npm run bench` measures it. */
export interface Costs {
  gateway: number;
  service: number;
  /** For nats-server: the question and its reply. */
  nats: number;
  redis: number;
  /** For the database: the queries of one request. */
  database: number;
}

/** What a request moves and asks for. */
export interface Traffic {
  /** Bytes over NATS, question and reply. */
  natsBytes: number;
  redisOperations: number;
  databaseReads: number;
}

/** How many of each part a rate needs. */
export interface Capacity {
  /** Processes with one thread each, so this is also the number of cores. */
  gateways: number;
  services: number;
  natsServers: number;
  redisShards: number;
  databaseCores: number;
  natsGbps: number;
}

/** How much of a core may be used before waiting grows steeply: at 60 % a request waits 1.5 times its work in M/M/1. */
export const utilisation = 0.6;
/** How many cores a nats-server makes good use of. Beyond that, a cluster needs more servers. */
const natsCores = 8;

/**
 * Calculates what a rate needs from what one request costs. Parts with one thread (gateways, services, Redis) need one process
 * for each core. In the model, processes share nothing but the engines, which are counted by their own cost.
 */
export function capacityFor(rate: number, costs: Costs, traffic: Traffic): Capacity {
  const cores = (micros: number) => Math.max(1, Math.ceil((rate * micros) / 1e6 / utilisation));
  return {
    gateways: cores(costs.gateway),
    services: cores(costs.service),
    natsServers: Math.ceil(cores(costs.nats) / natsCores),
    redisShards: cores(costs.redis),
    databaseCores: cores(costs.database),
    natsGbps: (rate * traffic.natsBytes * 8) / 1e9,
  };
}

/** The most that a machine with `cores` cores can serve when all parts share it and every core is always busy. */
export function mostOnOneMachine(cores: number, micros: readonly number[]): number {
  const sum = micros.reduce((total, one) => total + one, 0);
  return (cores * 1e6) / sum;
}
