export { cryptoConfig, testTokensAllowed } from './config.ts';
export { type CryptoOptions, startCrypto } from './service.ts';
