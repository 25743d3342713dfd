import { createLogger, readConfig, readVariable } from '@kith/base';
import { drainMsOf, type RunningProcess } from '@kith/service';
import { readManifest, settingsOn } from '../../forms/backup-manifest.ts';
import { platformConfig, startDefaults } from '../../forms/config.ts';
import { openDataFolder } from '../../forms/data-folder.ts';
import { startEmbedded } from '../../forms/embedded.ts';
import { operatorToken } from '../../forms/operator-token.ts';
import { refuseTakenPort } from '../../forms/port-taken.ts';
import { serviceNames } from '../../services.ts';
import { openInPlace } from '../backup/open-in-place.ts';
import type { Result, Surroundings } from '../command.ts';
import { introduce } from './introduce.ts';

/** Starts the whole platform embedded in this process. */
export async function startInProcess({
  env,
  progress,
}: Surroundings): Promise<RunningProcess & { told: Result }> {
  // A person who tries Kith at a terminal does not need a log line for each request.
  const isProduction = readVariable('NODE_ENV', env) === 'production';
  const defaults = { ...startDefaults, LOG_LEVEL: isProduction ? 'info' : 'warn' };
  const own = readConfig(platformConfig, env, defaults);
  const folder = openDataFolder(own.KITH_DATA);
  const drainMs = drainMsOf(own, own.NODE_ENV);
  folder.announce({ form: 'embedded', services: {}, drainMs });
  await openInPlace(folder.path, env, progress);
  const backup = readManifest(folder);
  // Only the settings that a backup records are read again. If all settings were read again, a command that prints the secret
  // (`KITH_SECRET_COMMAND`) would run twice, and such a command may work only once.
  const config = { ...own, ...settingsOn(backup, env) };
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL });
  await refuseTakenPort(config);
  const token = operatorToken(folder, config.OPERATOR_TOKEN);
  // If INTERNAL_PORT is not set during development, nobody relies on the usual port, and any free port will do. The usual port may
  // be taken, because it is also the default port of Prometheus. In production, another port is never used, because monitoring
  // would then watch the program that has taken the usual port.
  const internalPortMayMove = !isProduction && !env.INTERNAL_PORT && !env.INTERNAL_PORT_FILE;
  const platform = await startEmbedded({
    config: { ...config, OPERATOR_TOKEN: token },
    folder,
    log,
    internalPortMayMove,
  });
  const { url, adminUrl } = platform;
  const [internalUrl = ''] = platform.internalUrls;
  const hasMoved = internalPortMayMove && !internalUrl.endsWith(`:${config.INTERNAL_PORT}`);
  const internal = { url: internalUrl, taken: hasMoved ? config.INTERNAL_PORT : undefined };
  const services = Object.fromEntries(['gateway', ...serviceNames].map((name) => [name, internalUrl]));
  const record = { form: 'embedded', url, ...(adminUrl && { adminUrl }), services, drainMs } as const;
  const told = await introduce({ config, folder, record, operatorToken: token, internal, backup });
  return { told, log, drain: platform.drain, stop: () => platform.stop() };
}
