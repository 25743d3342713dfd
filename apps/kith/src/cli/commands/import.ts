import { rebuildNotificationsProfiles, uuid } from '@kith/contracts';
import { type Command, Failure, type Result, textOf, UsageError } from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { copyProfiles } from '../import/copy-profiles.ts';
import { type Counts, type ImportedFile, importFile } from '../import/import-file.ts';
import { importKinds } from '../import/kinds.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';

const everyMs = 1_000;

/** The result of a file's import: the counts of this run, and the counts of all runs since the import began. */
interface Row extends Counts, Omit<ImportedFile, 'run'> {
  kind: string;
  file: string;
  seconds: number;
}

/** Imports users, connections, collections, entities and files from another backend (docs/import.md). */
export const importCommand: Command = {
  name: 'import',
  summary: 'import users, connections, collections, entities and files from another backend',
  text: `Imports JSON Lines files into a project of a running platform. docs/import.md describes the lines. If the import is
interrupted, run the command again to resume: <FILE>.kith-import.json records the progress. Rejected lines are listed in
<FILE>.rejected.jsonl with the reason, and the exit code is then 1. The counts are those of this run; after several
runs the totals are printed, too.`,
  reads: accessConfig,
  options: {
    project: { value: 'ID', text: 'the project to import into', isNeeded: true },
    ...Object.fromEntries(
      importKinds.map(({ name }) => [name, { value: 'FILE', text: `the lines of ${name}` }]),
    ),
    restart: { text: 'start again at the first line; existing rows stay unchanged' },
    ...accessOptions,
  },
  isLong: true,
  async run(given, { env, progress }) {
    const projectId = uuid.safeParse(textOf(given, 'project')).data;
    if (projectId === undefined) throw new UsageError('--project must be a project id (UUID).');
    const files = importKinds.flatMap((kind) => {
      const file = textOf(given, kind.name);
      return file === undefined ? [] : [{ kind, file: resolvePath(file, env) }];
    });
    if (files.length === 0) throw new UsageError('Name a file to import.');
    const access = accessPlatform(given, { env });
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
          progress(`${kind.name}: ${line} lines, ${Math.floor((100 * offset) / (size || 1))} %`);
        },
      });
      const seconds = Math.round(performance.now() - began) / 1000;
      rows.push({ kind: kind.name, file, ...run, ...rest, seconds });
    }
    // A user who was just imported has no notifications yet, so this copy comes last.
    if (files.some(({ kind }) => kind.name === 'users')) {
      await copyProfiles(access, rebuildNotificationsProfiles, projectId);
    }
    return resultOf(rows);
  },
};

function resultOf(rows: readonly Row[]): Result {
  const table = tableOf(rows, {
    file: ({ kind }) => kind,
    lines: ({ lines }) => String(lines),
    imported: ({ imported }) => String(imported),
    unchanged: ({ unchanged }) => String(unchanged),
    rejected: ({ rejected }) => String(rejected),
    seconds: ({ seconds }) => seconds.toFixed(1),
  });
  const totals = rows
    .filter(({ lines, inAll }) => inAll.lines !== lines)
    .map(({ kind, inAll }) => `${kind}, all runs: ${inWords(inAll)}\n`);
  return { value: { files: rows }, text: [table, ...totals].join(''), failure: failureOf(rows) };
}

function failureOf(rows: readonly Row[]): Failure | undefined {
  const rejected = rows.reduce((sum, { inAll }) => sum + inAll.rejected, 0);
  if (rejected === 0) return undefined;
  const lists = rows.flatMap(({ rejectedFile }) => rejectedFile ?? []);
  const where = lists.length > 0 ? `; the reasons are in ${lists.join(', ')}` : '';
  return new Failure('lines-rejected', `Rejected lines: ${rejected}${where}.`);
}

const inWords = ({ lines, imported, unchanged, rejected }: Counts) =>
  `${lines} lines, ${imported} imported, ${unchanged} unchanged, ${rejected} rejected`;
