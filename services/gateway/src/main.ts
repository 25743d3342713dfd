import { runOnBus, serviceConfig } from '@kith/service';
import { z } from 'zod';
import { sharedGatewayConfig } from './config.ts';
import { startGateway } from './service.ts';

const config = z.object({ ...serviceConfig.shape, ...sharedGatewayConfig.shape });

await runOnBus('gateway', config, (runtime, settings) =>
  startGateway({ runtime, config: settings, limiterStore: { kind: 'redis', url: settings.REDIS_URL } }),
);
