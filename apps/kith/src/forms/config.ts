import { gatewayConfig } from '@kith/gateway';
import { commonConfig, mongoConfig, natsConfig } from '@kith/service';
import { z } from 'zod';
import { services } from '../services.ts';
import { dataFolderConfig } from './data-folder-config.ts';

type All<Each> = (Each extends unknown ? (one: Each) => void : never) extends (all: infer Whole) => void
  ? Whole
  : never;
type Shapes = All<(typeof services)[number]['config']['shape']>;

const engines = { ...natsConfig.shape, ...mongoConfig.shape };
const shapes: Shapes = Object.assign({}, ...services.map(({ config }) => config.shape));
const isEngine = (name: string) => name in engines;
const ofServices = Object.fromEntries(
  Object.entries(shapes).filter(([name]) => !isEngine(name)),
) as unknown as Omit<Shapes, keyof typeof engines>;

/** Settings of the engines that `kith start --distributed` starts. */
const ownEngines = z.object({
  ENGINE_CERTIFICATES: z
    .string()
    .optional()
    .describe(
      'folder with certificates for the engines that `kith start --distributed` starts: `ca.pem`, and `nats.pem`, `mongo.pem` and `redis.pem` with their keys; if it is not set, Kith makes the certificates',
    ),
});

/**
 * The environment variables of a start. These are the variables that the gateway and the services read, and the place of the
 * data.
 */
export const platformConfig = z.object({
  ...ofServices,
  ...commonConfig.shape,
  ...gatewayConfig.shape,
  ...dataFolderConfig.shape,
  ...ownEngines.shape,
});
export type PlatformConfig = z.output<typeof platformConfig>;

/**
 * Defaults of a start by `kith start` and `npm start`. A service that is started alone, by its `main.ts`, has other defaults.
 */
export const startDefaults = { NODE_ENV: 'development' } as const satisfies Record<string, string>;
