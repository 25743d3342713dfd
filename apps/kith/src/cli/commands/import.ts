import { uuid } from '@kith/contracts';
import { type Command, needed, optional, type Surroundings, UsageError } from '../command.ts';
import { type Counts, type ImportedFile, importFile } from '../import/import-file.ts';
import { importKinds } from '../import/kinds.ts';
import { accessConfig, accessPlatform, resolvePath } from '../platform-access.ts';
import { print } from '../table.ts';

const everyMs = 1_000;

/** What `--json` prints of a file: the counts of this run, and those of all runs since it was begun. */
interface Row extends Counts, Omit<ImportedFile, 'run'> {
  kind: string;
  file: string;
  seconds: number;
}

/** Imports users, connections, collections and entities from another backend (docs/import.md). */
export const importCommand: Command = {
  name: 'import',
  summary: 'import users, connections, collections and entities from another backend',
  help: `kith import --project ID [--users FILE] [--connections FILE] [--collections FILE] [--entities FILE]

Imports JSON Lines files into a project of a running platform. docs/import.md describes the lines. If it is
interrupted, run it again to resume: <FILE>.kith-import.json records the progress. Rejected lines are listed in
<FILE>.rejected.jsonl with the reason, and the exit code is then 1. The counts are those of this run; after several
runs the totals are printed, too.

  --project ID   the project to import into
  --restart      start again at the first line; existing rows stay unchanged
  --json         print the counts as JSON`,
  reads: accessConfig,
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
    if (projectId === undefined) throw new UsageError('--project must be a project id (UUID).');
    const files = importKinds.flatMap((kind) => {
      const file = optional(given, kind.name);
      return file === undefined ? [] : [{ kind, file: resolvePath(file, around.env) }];
    });
    if (files.length === 0) throw new UsageError('Name a file to import.');
    const access = accessPlatform(around);
    await access.call('GET', `/admin/projects/${projectId}`);
    const rows: Row[] = [];
    for (const { kind, file } of files) {
      const began = performance.now();
      let last = began;
      const { run, ...rest } = await importFile({
        ...{ access, projectId, file, kind, restart: given.options.restart === true },
        onProgress({ line, offset }, size) {
          if (performance.now() - last < everyMs) return;
          last = performance.now();
          around.stderr.write(`${kind.name}: ${line} lines, ${Math.floor((100 * offset) / (size || 1))} %\n`);
        },
      });
      const seconds = Math.round(performance.now() - began) / 1000;
      rows.push({ kind: kind.name, file, ...run, ...rest, seconds });
    }
    printRows(rows, around, given.options.json === true);
    return rows.some(({ inAll }) => inAll.rejected > 0) ? 1 : 0;
  },
};

function printRows(rows: readonly Row[], around: Surroundings, json: boolean): void {
  print(around, rows, {
    json,
    columns: {
      file: ({ kind }) => kind,
      lines: ({ lines }) => String(lines),
      imported: ({ imported }) => String(imported),
      unchanged: ({ unchanged }) => String(unchanged),
      rejected: ({ rejected }) => String(rejected),
      seconds: ({ seconds }) => seconds.toFixed(1),
    },
  });
  if (json) return;
  for (const { kind, lines, inAll, rejectedFile } of rows) {
    if (inAll.lines !== lines) around.stdout.write(`${kind}, all runs: ${inWords(inAll)}\n`);
    if (rejectedFile !== null)
      around.stdout.write(`${kind}: the rejected lines and their reasons are in ${rejectedFile}\n`);
  }
}

const inWords = ({ lines, imported, unchanged, rejected }: Counts) =>
  `${lines} lines, ${imported} imported, ${unchanged} unchanged, ${rejected} rejected`;
