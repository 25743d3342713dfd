// `npm start`: the whole platform embedded in this process, with a demo project outside production.
import {
  ensureDemo,
  goodbye,
  openDataFolder,
  operatorToken,
  platformConfig,
  productionNotice,
  startEmbedded,
  welcome,
} from '@kith/platform';
import { createLogger, readConfig, runProcess } from '@kith/service';

await runProcess('kith', async (env) => {
  const config = readConfig(platformConfig, {
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    INTERNAL_PORT: '0',
    ...env,
  });
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL });
  const folder = openDataFolder(config.KITH_DATA);
  const token = operatorToken(folder, config.OPERATOR_TOKEN);
  const platform = await startEmbedded({ config: { ...config, OPERATOR_TOKEN: token }, folder, log });
  if (config.NODE_ENV === 'production') console.log(productionNotice(platform.url, folder));
  else {
    const demo = { url: platform.url, operatorToken: token, stateName: 'demo-embedded.json' };
    console.log(welcome(await ensureDemo(folder, demo), folder));
    console.log(goodbye(folder));
  }
  return { log, stop: () => platform.stop() };
});
