// `npm start`: the whole platform embedded in this process, with a demo project outside production.

import { createLogger, readConfig } from '@kith/base';
import {
  copyNotice,
  ensureDemo,
  goodbye,
  openDataFolder,
  operatorToken,
  platformConfig,
  productionNotice,
  readManifest,
  refuseTakenPort,
  startEmbedded,
  welcome,
} from '@kith/platform';
import { runProcess } from '@kith/service';
import { readOptions } from './start/options.ts';

readOptions(
  'npm start',
  `Starts the whole platform in one process: the API at 127.0.0.1:8080, its reference at /docs, data in .kith. Unless
NODE_ENV is production, it creates a demo project and prints three requests to paste.`,
);

await runProcess('kith', async (env) => {
  const asked = { NODE_ENV: 'development', LOG_LEVEL: 'warn', ...env };
  const folder = openDataFolder(readConfig(platformConfig, asked).KITH_DATA);
  const backup = readManifest(folder);
  // A backup starts with the settings that its tokens were made with.
  const config = readConfig(platformConfig, { ...backup?.settings, ...asked });
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL });
  await refuseTakenPort(config);
  const token = operatorToken(folder, config.OPERATOR_TOKEN);
  // Nobody looks for the usual port who has not asked for it: a Prometheus has the same.
  const internalPortMayMove = !env.INTERNAL_PORT && !env.INTERNAL_PORT_FILE;
  const platform = await startEmbedded({
    config: { ...config, OPERATOR_TOKEN: token },
    folder,
    log,
    internalPortMayMove,
  });
  folder.announce(platform.url);
  const [internalUrl = ''] = platform.internalUrls;
  const hasMoved = internalPortMayMove && !internalUrl.endsWith(`:${config.INTERNAL_PORT}`);
  const internal = { url: internalUrl, taken: hasMoved ? config.INTERNAL_PORT : undefined };
  if (backup && !backup.adoptedAt) console.log(copyNotice(platform.url, folder, backup.begunAt));
  else if (config.NODE_ENV === 'production') console.log(productionNotice(platform.url, folder, internal));
  else {
    const demo = { url: platform.url, operatorToken: token, stateName: 'demo-embedded.json' };
    console.log(welcome(await ensureDemo(folder, demo), folder, internal));
    console.log(goodbye(folder));
  }
  return { log, drain: platform.drain, stop: () => platform.stop() };
});
