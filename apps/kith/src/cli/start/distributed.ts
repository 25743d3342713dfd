import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { createLogger, readConfig, StartError, within } from '@kith/base';
import { provideEngines } from '@kith/engines';
import { drainMsOf, type RunningProcess, usualStopMs } from '@kith/service';
import { platformConfig, startDefaults } from '../../forms/config.ts';
import { openDataFolder } from '../../forms/data-folder.ts';
import { type DistributedPlatform, startDistributed } from '../../forms/distributed.ts';
import { withSecret } from '../../forms/installation-secret.ts';
import { operatorToken } from '../../forms/operator-token.ts';
import { refuseTakenPort } from '../../forms/port-taken.ts';
import type { Announcement } from '../../forms/running.ts';
import type { Result, Surroundings } from '../command.ts';
import { withSecretsRead } from '../secrets-read.ts';
import { reachEngines, refuseSomeUrls } from './engines.ts';
import { introduce } from './introduce.ts';

/** Starts each service as a process of its own. If no addresses of engines are given, starts real engines too. */
export async function startOnEngines(
  { env, ...around }: Surroundings,
  { isPlain }: { isPlain: boolean },
): Promise<RunningProcess & { told: Result }> {
  const progress = (line: string) => around.progress(`  ${line}`);
  const config = readConfig(platformConfig, env, startDefaults);
  refuseSomeUrls(env);
  const folder = openDataFolder(config.KITH_DATA);
  const drainMs = drainMsOf(config, config.NODE_ENV);
  const record: Announcement = { form: 'distributed', services: {}, drainMs };
  folder.announce(record);
  await refuseTakenPort(config);
  const token = operatorToken(folder, config.OPERATOR_TOKEN);
  const { KITH_SECRET: secret, KITH_SECRET_PREVIOUS: previous } = withSecret(folder, config);
  const provided = await provideEngines({ env, progress, confirm });
  if (provided.kind === 'none') throw new StartError(provided.reason);
  const { KITH_PREFIX: prefix, ENGINE_CERTIFICATES: certificates } = config;
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL });
  const engines = await reachEngines({ provided, folder, env, prefix, certificates, isPlain, progress, log });
  let started: DistributedPlatform | undefined;
  try {
    const platform = await startDistributed({
      env: {
        ...env,
        NODE_ENV: config.NODE_ENV,
        HOST: config.HOST,
        // Mails are written to the data folder, as in the embedded form. So developers find them in the same place.
        MAIL_FOLDER: config.MAIL_FOLDER ?? folder.file('mail'),
        ...withSecretsRead({ KITH_SECRET: secret, KITH_SECRET_PREVIOUS: previous.join() }),
        ...unset,
      },
      // Each process gets only its own secrets.
      envOf: (name) => ({
        ...engines.envOf(name),
        ...(name === 'gateway' ? { OPERATOR_TOKEN: token } : { OPERATOR_TOKEN: undefined }),
      }),
      logFolder: folder.file('logs'),
      progress,
      onUp(name, internalUrl) {
        record.services[name] = internalUrl;
        // `onUp` is also called after a process was started again, because the process then has another port. If the record
        // cannot be written, for example on a full disk, the process still runs. If `onUp` threw an error, Kith would start the
        // process once more, so the error is only shown.
        try {
          folder.announce(record);
        } catch (error) {
          progress((error as Error).message);
        }
      },
      restarts: true,
    });
    started = platform;
    const { url, adminUrl } = platform;
    Object.assign(record, { url, ...(adminUrl && { adminUrl }) });
    return {
      told: await introduce({ config, folder, record: { ...record, url }, operatorToken: token }),
      log,
      // If the gateway hangs, the platform stops after this time without waiting for the gateway.
      drain: () => within(platform.drain(), drainMs + usualStopMs),
      async stop() {
        await platform.stop();
        await engines.stop();
        folder.release();
      },
    };
  } catch (error) {
    await started?.stop();
    await engines.stop();
    throw error;
  }
}

/** Unsets the variables that hold addresses of engines. Each process gets only its own addresses. */
const unset = { MONGODB_URL: undefined, NATS_URL: undefined, REDIS_URL: undefined };

/** Asks a question at the terminal. If there is no terminal, or its input ends, the answer counts as no. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While the terminal reads an answer, Ctrl-C is only a key press and sends no signal. The process ends only on a signal, so
  // this line sends the signal.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = once(terminal, 'close').then(() => '');
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), ended]);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
