import { ensureDemo } from '../../demo/demo.ts';
import { copyNotice, goodbye, type InternalAddress, productionNotice, welcome } from '../../demo/welcome.ts';
import { type BackupManifest, isCopy } from '../../forms/backup-manifest.ts';
import type { PlatformConfig } from '../../forms/config.ts';
import type { OpenDataFolder } from '../../forms/data-folder.ts';
import type { Announcement } from '../../forms/running.ts';
import type { Result } from '../command.ts';

/** A running platform. */
export interface Up {
  config: Pick<PlatformConfig, 'NODE_ENV'>;
  folder: OpenDataFolder;
  record: Announcement & { url: string };
  operatorToken: string;
  internal?: InternalAddress;
  /** The backup that the folder holds, if any. */
  backup?: BackupManifest | undefined;
}

/**
 * Records that a platform is up, and returns a text that explains what to do with it. Outside production, first makes a demo
 * project.
 */
export async function introduce(up: Up): Promise<Result> {
  const value = { event: 'up', dataFolder: up.folder.path, ...up.folder.announce(up.record) };
  return { value, text: await textFor(up) };
}

async function textFor({ config, folder, record, operatorToken, internal, backup }: Up): Promise<string> {
  const { url, adminUrl, form } = record;
  // A backup holds somebody's data, so no demo is made in it.
  if (isCopy(backup)) return `${copyNotice(url, folder, backup.begunAt)}\n`;
  if (config.NODE_ENV === 'production') return `${productionNotice(url, folder, internal)}\n`;
  const demo = await ensureDemo(folder, { url, adminUrl, operatorToken, stateName: `demo-${form}.json` });
  return `${welcome(demo, folder, internal)}\n${goodbye(folder)}\n`;
}
