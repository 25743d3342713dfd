import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig, StartError } from '@kith/base/config';
import { z } from 'zod';
import { type Call, caller } from '../demo/api.ts';
import { dataFolderConfig } from '../forms/data-folder-config.ts';
import type { Surroundings } from './command.ts';

/** What commands read of the environment to reach a platform that runs. */
export const accessConfig = z.object({
  KITH_URL: z
    .url({ error: 'the address of the gateway is needed, http://host:8080' })
    .default('http://127.0.0.1:8080')
    .describe('address of the gateway that `kith` speaks to'),
  OPERATOR_TOKEN: z.string().optional().describe('the operator’s token; default: the one in the data folder'),
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
});

/** A platform that runs, and the right to its operators' endpoints. */
export interface PlatformAccess {
  origin: string;
  token: string;
  /** Calls an operators' endpoint; rejects with `CallError` or `StartError`. */
  call: <T>(method: string, path: string, body?: unknown) => Promise<T>;
}

/**
 * Reaches the platform of KITH_URL with the token of OPERATOR_TOKEN or OPERATOR_TOKEN_FILE, else with the one that an
 * embedded installation keeps in its folder. Never from an argument: those stand in lists of processes and histories.
 */
export function accessPlatform({ env }: Pick<Surroundings, 'env'>): PlatformAccess {
  const config = readConfig(accessConfig, env);
  const { origin } = new URL(config.KITH_URL);
  const token = config.OPERATOR_TOKEN ?? keptToken(config.KITH_DATA);
  const call: Call = caller(origin);
  return { origin, token, call: (method, path, body) => call(method, path, { token, body }) };
}

/** A path as the caller named it: from where the command was given. */
export function resolvePath(path: string, env: NodeJS.ProcessEnv): string {
  return resolve(env.KITH_CWD ?? process.cwd(), path);
}

function keptToken(folder: string): string {
  try {
    const token = readFileSync(join(folder, 'operator-token'), 'utf8').trim();
    if (token) return token;
  } catch {
    // Said below.
  }
  throw new StartError(
    'The operator’s token is needed: set OPERATOR_TOKEN or OPERATOR_TOKEN_FILE, or set KITH_DATA to the data folder.',
  );
}
