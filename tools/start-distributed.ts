// `npm run start:distributed`: real engines, each service its own process, with a demo project outside production.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { createLogger, readConfig, StartError } from '@kith/base';
import { provideEngines, startNamedEngines } from '@kith/engines';
import {
  ensureDemo,
  ensureNatsUsers,
  goodbye,
  openDataFolder,
  operatorToken,
  platformConfig,
  productionNotice,
  refuseTakenPort,
  startDistributed,
  welcome,
} from '@kith/platform';
import { runProcess } from '@kith/service';
import { readOptions } from './start/options.ts';

readOptions(
  'npm run start:distributed',
  `Starts each service as its own process. Uses the engines at MONGODB_URL, NATS_URL and REDIS_URL if all three are set,
otherwise engines in Docker. Unless NODE_ENV is production, it creates a demo project and prints three requests to paste.`,
);

const progress = (line: string) => console.error(`  ${line}`);

await runProcess('kith', async (env) => {
  const config = readConfig(platformConfig, { NODE_ENV: 'development', ...env });
  const folder = openDataFolder(config.KITH_DATA);
  await refuseTakenPort(config);
  const token = operatorToken(folder, config.OPERATOR_TOKEN);
  const provided = await provideEngines({ env, progress, confirm });
  if (provided.kind === 'none') throw new StartError(provided.reason);
  const users = ensureNatsUsers(folder.file('nats-users'), config.KITH_PREFIX);
  const engines =
    provided.kind === 'docker'
      ? await startNamedEngines({
          name: config.KITH_PREFIX,
          images: provided.images,
          natsConfigDir: users.configFolder,
          progress,
        })
      : undefined;
  const urls = engines ?? (provided.kind === 'urls' ? provided : undefined);
  try {
    const platform = await startDistributed({
      env: {
        ...env,
        NODE_ENV: config.NODE_ENV,
        HOST: config.HOST,
        MONGODB_URL: urls?.mongodbUrl,
        NATS_URL: urls?.natsUrl,
        REDIS_URL: urls?.redisUrl,
      },
      // Each process gets its own secrets only.
      envOf: (name) => ({
        ...(engines ? { NATS_NKEY: readFileSync(users.seedFile(name), 'utf8') } : {}),
        ...(name === 'gateway' ? { OPERATOR_TOKEN: token } : { OPERATOR_TOKEN: undefined }),
      }),
      logFolder: folder.file('logs'),
      progress,
      restarts: true,
    });
    folder.announce(platform.url);
    if (config.NODE_ENV === 'production') console.log(productionNotice(platform.url, folder));
    else {
      const demo = { url: platform.url, operatorToken: token, stateName: 'demo-distributed.json' };
      console.log(welcome(await ensureDemo(folder, demo), folder));
      console.log(goodbye(folder));
    }
    return {
      log: createLogger({ name: 'kith', level: config.LOG_LEVEL }),
      async stop() {
        await platform.stop();
        await engines?.stop();
        folder.release();
      },
    };
  } catch (error) {
    await engines?.stop();
    throw error;
  }
});

/** Asks at the terminal; without one the answer is no. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
