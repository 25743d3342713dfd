// A process whose start waits for NATS.
import { runOnBus, serviceConfig } from '@kith/service';

await runOnBus('starts-slowly', serviceConfig, () => Promise.reject(new Error('not to be called')));
