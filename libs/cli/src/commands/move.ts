import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { openDataFolder, platformConfig } from '@kith/platform';
import { commonConfig, createLogger, mongoConfig, readConfig, StartError } from '@kith/service';
import { z } from 'zod';
import { type Command, optional } from '../command.ts';
import { moveData } from '../move/move.ts';
import { untilQuiet } from '../move/quiet.ts';
import { serviceMoves } from '../move/services.ts';
import { checkFolder, Source } from '../move/source.ts';
import { isBegun, isHandedOver, readState } from '../move/state.ts';
import { Target } from '../move/target.ts';
import { resolvePath } from '../platform-access.ts';
import { print } from '../table.ts';

/** What says where to. */
const moveConfig = z.object({
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.describe('where to: MongoDB or a compatible server'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: platformConfig.shape.KITH_DATA,
});

/** Moves an embedded installation's data to the databases of the distributed form (docs/move.md). */
export const moveCommand: Command = {
  name: 'move',
  summary: 'move an embedded installation to the distributed form',
  help: `kith move [--from FOLDER] [--without CONSUMER] [--json]

Copies all data of an embedded installation, which has to be stopped, to the databases of the distributed form, which
have to be empty; compares counts and checksums; docs/move.md says more. Started again it goes on where it stopped.
Once the data is moved no embedded platform starts on the folder any more.

  --from FOLDER       the data folder, default that of KITH_DATA
  --without CONSUMER  leave events behind that wait for a consumer of this name, where no service of this version has it;
                      may be given several times
  --json              print the counts as JSON`,
  reads: moveConfig,
  options: {
    from: { type: 'string' },
    without: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  },
  async run(given, around) {
    const { MONGODB_URL: url, KITH_PREFIX: prefix, KITH_DATA: kept } = readConfig(moveConfig, around.env);
    const from = optional(given, 'from');
    // The default is where `npm start` keeps it, wherever the command is given.
    const path = from === undefined ? resolve(kept) : resolvePath(from, around.env);
    const without = (given.options.without ?? []) as string[];
    checkFolder(path, filesIn(path), serviceMoves);
    const config = readConfig(platformConfig, { ...around.env, KITH_DATA: path, LOG_LEVEL: 'error' });
    const progress = (line: string) => around.stderr.write(`${line}\n`);
    const destination = { write: (line: string) => void around.stderr.write(line) };
    const log = createLogger({ name: 'kith', level: config.LOG_LEVEL, destination });
    const folder = openDataFolder(path);
    try {
      await using target = await Target.open({ url, prefix });
      const state = readState(folder, prefix);
      if (state && (isBegun(folder, state) || isHandedOver(folder, state)))
        progress('going on with what was begun …');
      else {
        progress('finishing what is on its way …');
        await untilQuiet(folder, { config, log, without });
      }
      const counts = await moveData({ folder, source: new Source(folder), target, prefix }, progress);
      print(around, counts, {
        json: given.options.json === true,
        columns: {
          service: ({ service }) => service,
          collection: ({ collection }) => collection,
          documents: ({ documents }) => String(documents),
        },
      });
      return 0;
    } finally {
      folder.release();
    }
  },
};

function filesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    throw new StartError(`There is no embedded installation in ${path}.`, { cause: error });
  }
}
