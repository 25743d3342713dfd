import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServiceProcess } from '@kith/platform';
import { compileCache, type TestPlatform } from '@kith/testing';

/** Starts an additional gateway process for a platform that runs on real engines. */
export async function startSecondGateway(
  platform: TestPlatform,
  env: NodeJS.ProcessEnv = {},
): Promise<{ url: string; internalUrl: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-gateway-'));
  const gateway = await startServiceProcess('gateway', {
    logFile: join(folder, 'gateway.log'),
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compileCache(),
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      PORT: '0',
      INTERNAL_PORT: '0',
      KITH_PREFIX: platform.prefix,
      NATS_URL: platform.engines?.natsUrl,
      REDIS_URL: platform.engines?.redisUrl,
      KITH_SECRET: 'of a gateway that is asked for no files',
      OPERATOR_TOKEN: platform.operatorToken,
      ...env,
    },
  });
  return {
    url: gateway.ready.url ?? '',
    internalUrl: `http://127.0.0.1:${gateway.ready.internalPort}`,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
