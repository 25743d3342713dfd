import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, readConfig } from '@kith/base';
import type { ServiceName } from '@kith/contracts';
import { openDataFolder, platformConfig, startEmbedded } from '@kith/platform';
import { type EngineKind, startPlatform } from '@kith/testing';
import { type Document, MongoClient } from 'mongodb';
import { runKith } from './command.ts';

/** A platform whose services' databases are backed up and restored one by one. */
export interface Restorable extends AsyncDisposable {
  readonly url: string;
  operatorToken: string;
  backUp(service: ServiceName): Promise<void>;
  /**
   * Stops the service and replaces its database by the backup. Runs `kith restored` as an operator does, and starts the service
   * again. Returns the command's output.
   */
  restore(service: ServiceName): Promise<string>;
}

export function startRestorable(engine: EngineKind): Promise<Restorable> {
  return engine === 'embedded' ? onFiles() : onEngines();
}

const operatorToken = 'operator-of-a-restored-platform';

async function onFiles(): Promise<Restorable> {
  const above = mkdtempSync(join(tmpdir(), 'kith-restored-'));
  const [data, backup] = [join(above, 'data'), join(above, 'backup')];
  const env = { NODE_ENV: 'test', LOG_LEVEL: 'silent', PORT: '0', INTERNAL_PORT: '0', RATE_LIMIT_SCALE: '0' };
  const config = readConfig(platformConfig, { ...env, OPERATOR_TOKEN: operatorToken });
  const log = createLogger({ name: 'kith', level: 'silent' });
  const start = () => startEmbedded({ config, folder: openDataFolder(data), log });
  let platform = await start();
  return {
    get url() {
      return platform.url;
    },
    operatorToken,
    async backUp(service) {
      await platform.stop();
      cpSync(join(data, `${service}.sqlite`), join(backup, `${service}.sqlite`));
      platform = await start();
    },
    async restore(service) {
      await platform.stop();
      cpSync(join(backup, `${service}.sqlite`), join(data, `${service}.sqlite`));
      const said = await sayRestored(service, { KITH_DATA: data });
      platform = await start();
      return said;
    },
    async [Symbol.asyncDispose]() {
      await platform.stop();
      rmSync(above, { recursive: true });
    },
  };
}

async function onEngines(): Promise<Restorable> {
  await using undo = new AsyncDisposableStack();
  const platform = undo.use(await startPlatform({ engine: 'containers' }));
  const { engines, processes, prefix } = platform;
  const client = undo.use(new MongoClient(engines!.mongodbUrl));
  const backups = new Map<string, Map<string, Document[]>>();
  const collections = (service: string) => client.db(`${prefix}_${service}`).collections();
  const ended = undo.move();
  return {
    url: platform.url,
    operatorToken: platform.operatorToken,
    async backUp(service) {
      const backup = new Map<string, Document[]>();
      for (const one of await collections(service))
        backup.set(one.collectionName, await one.find().toArray());
      backups.set(service, backup);
    },
    async restore(service) {
      await processes!.process(service)?.stop();
      for (const one of await collections(service)) {
        await one.deleteMany({});
        const documents = backups.get(service)?.get(one.collectionName) ?? [];
        if (documents.length > 0) await one.insertMany(documents);
      }
      const said = await sayRestored(service, { MONGODB_URL: engines!.mongodbUrl, KITH_PREFIX: prefix });
      await processes!.start(service);
      return said;
    },
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  };
}

async function sayRestored(service: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { code, stdout, stderr } = await runKith(['restored', service], env);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}
