/** How much CPU time each part of the platform needs for one request of the load, in µs. `npm run bench` measures it. */
export interface Costs {
  gateway: number;
  service: number;
  /** The CPU time of nats-server for the request and its answer. */
  nats: number;
  redis: number;
  /** The CPU time of the database for the queries of one request. */
  database: number;
}

/** The traffic that a request causes. */
export interface Traffic {
  /** The bytes over NATS, for request and answer together. */
  natsBytes: number;
  redisOperations: number;
  databaseReads: number;
}

/**
 * What is needed to answer requests at a given rate: the number of instances of each part of the platform, and the speed of the
 * network.
 */
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
 * Cores should be busy for at most this share of the time. If they are busier, requests have to wait much longer. In the M/M/1
 * model at 60 %, a request waits 1.5 times as long as its own work takes.
 */
export const utilisation = 0.6;
/** How many cores a nats-server can use well. If more cores are needed, the cluster needs more servers. */
const natsCores = 8;

/**
 * Calculates what is needed for `rate` requests per second. `costs` and `traffic` describe one request. Gateways, services and
 * Redis have one thread, so they need one process for each core. The model assumes that processes share nothing except the
 * engines, whose costs are counted separately.
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
