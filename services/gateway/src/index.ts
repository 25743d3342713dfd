export { type GatewayConfig, gatewayConfig, sharedGatewayConfig } from './config.ts';
export type { HttpTimeouts } from './http-server.ts';
export type { LimiterStoreConfig } from './limiter-store.ts';
export { type GatewayOptions, type RunningGateway, startGateway } from './service.ts';
