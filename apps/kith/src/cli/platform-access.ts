import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, StartError } from '@kith/base/config';
import { z } from 'zod';
import { type Answer, exchanger } from '../demo/api.ts';
import { dataFolderConfig } from '../forms/data-folder-config.ts';
import { type Running, runningIn } from '../forms/running.ts';
import { Failure, type Given, notRunning, type Option, type Surroundings, textOf } from './command.ts';

/** What commands read from the environment to reach a running platform. */
export const accessConfig = z.object({
  KITH_URL: z
    .url({ protocol: /^https?$/, error: 'the address of the gateway is needed, http://host:8080' })
    .optional()
    .describe(
      'address of the gateway that `kith` calls; default: the gateway of the installation on the data folder',
    ),
  OPERATOR_TOKEN: z
    .string()
    .optional()
    .describe(
      'token for the `/admin` endpoints: the platform’s own, or that of an operator key; default: the file `operator-token` in the data folder, only for the installation on this folder',
    ),
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
});

/** The options of a command that calls a running platform. */
export const accessOptions = {
  url: { value: 'URL', text: 'address of the gateway (default: KITH_URL)' },
} satisfies Record<string, Option>;

/** A running platform, and a token for its operators' endpoints. */
export interface PlatformAccess {
  /** The address of the operators' endpoints, without a slash at its end. Behind a proxy, the address may have a path. */
  url: string;
  token: string;
  /** The installation on the data folder, if it is the platform at `url`; otherwise `undefined`. */
  own: Running | undefined;
  /** Calls an operators' endpoint. Rejects with `CallError` or `StartError`. */
  call: <T>(method: string, path: string, body?: unknown) => Promise<T>;
  /** Reads from an operators' endpoint. Resolves with the whole answer, and rejects like `call`. */
  get: <T>(path: string) => Promise<Answer<T>>;
}

/**
 * Gives access to the platform at `--url` or KITH_URL, or by default to the platform that runs on the data folder. The token
 * comes from OPERATOR_TOKEN or OPERATOR_TOKEN_FILE. If neither variable is set, the token comes from the data folder. The data
 * folder's token is sent only to the address that its installation has recorded. A token from the environment is sent to the
 * named address. But if this is the address of the folder's installation, and the installation has an ADMIN_PORT, either token is
 * sent to the address of that port. No argument holds a token, because process lists and shell histories show arguments.
 */
export function accessPlatform(given: Given, { env }: Pick<Surroundings, 'env'>): PlatformAccess {
  const config = readConfig(accessConfig, { ...env, KITH_URL: textOf(given, 'url') ?? env.KITH_URL });
  const { KITH_URL: named, OPERATOR_TOKEN, KITH_DATA: folder } = config;
  const running = installationOn(folder, { isNeeded: !named || !OPERATOR_TOKEN });
  const address = named ?? running?.adminUrl ?? running?.url;
  if (!address) throw notRunning(folder, ' Start it with kith start, or name an address with --url.');
  const asked = addressOf(address);
  const own = running && [running.url, running.adminUrl].includes(asked) ? running : undefined;
  const url = own?.adminUrl ?? asked;
  const token = OPERATOR_TOKEN ?? keptToken(folder, url, own !== undefined);
  const exchange = exchanger(url);
  return {
    ...{ url, token, own },
    call: async <T>(method: string, path: string, body?: unknown) =>
      (await exchange<T>(method, path, { token, body })).body,
    get: (path) => exchange('GET', path, { token }),
  };
}

/**
 * The installation that runs on a data folder. If the folder cannot be used, throws with `isNeeded`, and otherwise returns
 * `undefined`.
 */
function installationOn(folder: string, { isNeeded }: { isNeeded: boolean }): Running | undefined {
  try {
    return runningIn(folder);
  } catch (error) {
    if (isNeeded) throw error;
    return undefined;
  }
}

/** An address as {@link PlatformAccess} has it. */
export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

function keptToken(folder: string, url: string, isOwn: boolean): string {
  const token = read(join(folder, 'operator-token'));
  if (!token)
    throw new StartError(
      'The operator’s token is needed: set OPERATOR_TOKEN or OPERATOR_TOKEN_FILE, or set KITH_DATA to the data folder.',
    );
  if (isOwn) return token;
  throw new Failure(
    'token-not-sent',
    `The operator’s token in ${folder} is not sent to ${url}, because the installation of this folder does not run there. Set OPERATOR_TOKEN or OPERATOR_TOKEN_FILE to the token of ${url}.`,
  );
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
