import { uuid } from '@kith/contracts';
import { type Command, needed, optional, UsageError } from '../command.ts';
import { importFile } from '../import/import-file.ts';
import { importKinds } from '../import/kinds.ts';
import type { Progress } from '../import/progress.ts';
import { accessPlatform, resolvePath } from '../platform-access.ts';
import { print } from '../table.ts';

const everyMs = 1_000;

/** Imports users, connections, collections and entities of another back end (docs/import.md). */
export const importCommand: Command = {
  name: 'import',
  summary: 'import users, connections, collections and entities of another back end',
  help: `kith import --project ID [--users FILE] [--connections FILE] [--collections FILE] [--entities FILE]

Imports files of JSON lines into a project of a platform that runs; docs/import.md says what a line holds.
Started again it goes on where it stopped: <FILE>.kith-import.json keeps how far it is. Lines that can not be
imported are named in <FILE>.rejected.jsonl, with the reason; the exit code is then 1.

  --project ID   the project to import into
  --restart      begin with the first line again; what is there already is left as it is
  --json         print the counts as JSON

KITH_URL (default http://127.0.0.1:8080) is the platform, OPERATOR_TOKEN or OPERATOR_TOKEN_FILE the right to do so.`,
  options: {
    project: { type: 'string' },
    users: { type: 'string' },
    connections: { type: 'string' },
    collections: { type: 'string' },
    entities: { type: 'string' },
    restart: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  async run(given, around) {
    const projectId = uuid.safeParse(needed(given, 'project')).data;
    if (projectId === undefined) throw new UsageError('--project is not the id of a project.');
    const files = importKinds.flatMap((kind) => {
      const file = optional(given, kind.name);
      return file === undefined ? [] : [{ kind, file: resolvePath(file, around.env) }];
    });
    if (files.length === 0) throw new UsageError('Name a file to import.');
    const access = accessPlatform(around);
    await access.call('GET', `/admin/projects/${projectId}`);
    const rows: (Progress & { seconds: number })[] = [];
    for (const { kind, file } of files) {
      const began = performance.now();
      let last = began;
      const progress = await importFile({
        ...{ access, projectId, file, kind, restart: given.options.restart === true },
        onProgress({ line, offset }, size) {
          if (performance.now() - last < everyMs) return;
          last = performance.now();
          around.stderr.write(`${kind.name}: ${line} lines, ${Math.floor((100 * offset) / (size || 1))} %\n`);
        },
      });
      rows.push({ ...progress, seconds: Math.round(performance.now() - began) / 1000 });
    }
    print(around, rows, {
      json: given.options.json === true,
      columns: {
        file: ({ kind }) => kind,
        lines: ({ line }) => String(line),
        imported: ({ imported }) => String(imported),
        unchanged: ({ unchanged }) => String(unchanged),
        rejected: ({ rejected }) => String(rejected),
        seconds: ({ seconds }) => seconds.toFixed(1),
      },
    });
    return rows.some(({ rejected }) => rejected > 0) ? 1 : 0;
  },
};
