export { cryptoConfig, testTokensAllowed } from './config.ts';
export { type CryptoOptions, manifest, startCrypto } from './service.ts';
