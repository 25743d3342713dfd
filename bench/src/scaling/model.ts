/** The cost of one request of the load in each part, as CPU time in µs. `npm run bench` measures it. */
export interface Costs {
  gateway: number;
  service: number;
  /** The cost in nats-server, for the question and its reply. */
  nats: number;
  redis: number;
  /** The cost in the database, for the queries of one request. */
  database: number;
}

/** The traffic that a request causes. */
export interface Traffic {
  /** The bytes over NATS, for question and reply together. */
  natsBytes: number;
  redisOperations: number;
  databaseReads: number;
}

/** How many pieces of each part a rate needs. */
export interface Capacity {
  /** How many processes. Each has one thread, so this is also the number of cores. */
  gateways: number;
  services: number;
  natsServers: number;
  redisShards: number;
  databaseCores: number;
  natsGbps: number;
}

/**
 * The share of a core that may be used before waiting grows steeply. In the M/M/1 model at 60 %, a request waits 1.5 times as long
 * as its own work.
 */
export const utilisation = 0.6;
/** How many cores a nats-server can use well. If more cores are needed, the cluster needs more servers. */
const natsCores = 8;

/**
 * Calculates from the costs of one request what a rate needs. Gateways, services and Redis have one thread, so they need one
 * process for each core. In the model, processes share only the engines, and the engines have costs of their own.
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

/** The highest rate of a machine with `cores` cores, if all parts share the machine and every core is always busy. */
export function mostOnOneMachine(cores: number, micros: readonly number[]): number {
  const sum = micros.reduce((total, one) => total + one, 0);
  return (cores * 1e6) / sum;
}
