export { type GatewayConfig, gatewayConfig, sharedGatewayConfig } from './config.ts';
export type { HttpTimeouts } from './http/http-server.ts';
export { type ExaminedRedis, examinedKey, examineRedis } from './limits/examine-redis.ts';
export type { LimiterStoreConfig } from './limits/limiter-store.ts';
export { type GatewayOptions, type RunningGateway, startGateway } from './service.ts';
export { gatewayUses } from './uses.ts';
