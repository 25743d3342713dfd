import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { openDataFolder, platformConfig } from '@kith/platform';
import { commonConfig, createLogger, mongoConfig, readConfig, StartError } from '@kith/service';
import { z } from 'zod';
import { type Command, optional } from '../command.ts';
import { hasBegun, moveData } from '../move/move.ts';
import { untilQuiet } from '../move/quiet.ts';
import { serviceMoves } from '../move/services.ts';
import { checkFolder, Source } from '../move/source.ts';
import { Target } from '../move/target.ts';
import { resolvePath } from '../platform-access.ts';
import { print } from '../table.ts';

const moveConfig = z.object({ ...mongoConfig.shape, KITH_PREFIX: commonConfig.shape.KITH_PREFIX });

/** Moves an embedded installation's data to the databases of the distributed form (docs/move.md). */
export const moveCommand: Command = {
  name: 'move',
  summary: 'move an embedded installation to the distributed form',
  help: `kith move [--from FOLDER] [--json]

Copies all data of an embedded installation, which has to be stopped, to the databases of the distributed form, which
have to be empty; compares counts and checksums; docs/move.md says more. Started again it goes on where it stopped.

  --from FOLDER  the data folder, default .kith
  --json         print the counts as JSON

MONGODB_URL is where to, KITH_PREFIX (default kith) the first part of the databases' names.`,
  options: { from: { type: 'string' }, json: { type: 'boolean' } },
  async run(given, around) {
    const { MONGODB_URL: url, KITH_PREFIX: prefix } = readConfig(moveConfig, around.env);
    const from = optional(given, 'from');
    // The default is where `npm start` keeps it, wherever the command is given.
    const path = from === undefined ? resolve('.kith') : resolvePath(from, around.env);
    checkFolder(path, filesIn(path), serviceMoves);
    const config = readConfig(platformConfig, { ...around.env, KITH_DATA: path, LOG_LEVEL: 'error' });
    const progress = (line: string) => around.stderr.write(`${line}\n`);
    const destination = { write: (line: string) => void around.stderr.write(line) };
    const log = createLogger({ name: 'kith', level: config.LOG_LEVEL, destination });
    const folder = openDataFolder(path);
    try {
      await using target = await Target.open({ url, prefix });
      if (hasBegun(folder)) progress('going on with what was begun …');
      else {
        progress('finishing what is on its way …');
        await untilQuiet(folder, { config, log });
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
