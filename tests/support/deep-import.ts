import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestPlatform } from '@kith/testing';
import { expect } from 'vitest';
import { accessOf, longResult, runKith } from './command.ts';

const at = (row: number) => new Date(1_600_000_000_000 + row * 1000).toISOString();

/**
 * Imports collections and entities. The parent of a collection is always `chains` lines earlier in the file. So each request
 * needs the collections of the previous request. A third of the entities come twice. Expects that every row is imported.
 */
export async function expectDeepImport(
  platform: Pick<TestPlatform, 'url' | 'operatorToken' | 'createProject'>,
  folder: string,
  { chains, depth, entities }: { chains: number; depth: number; entities: number },
): Promise<void> {
  const { id: projectId } = await platform.createProject();
  const write = async (name: string, rows: readonly object[]) => {
    await writeFile(join(folder, `${name}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return [`--${name}`, `${name}.jsonl`];
  };
  const nameOf = (chain: number, level: number) => `${chain}.${level}`;
  const rows = Array.from({ length: depth }, (_, level) =>
    Array.from({ length: chains }, (_, chain) => ({
      ...{ userForeignId: 'u', id: nameOf(chain, level), name: 'n', createdAt: at(level) },
      ...(level === 0 ? {} : { parentId: nameOf(chain, level - 1) }),
    })),
  ).flat();
  const distinct = Math.ceil((2 * entities) / 3);
  const saved = Array.from({ length: entities }, (_, row) => ({
    ...{ userForeignId: 'u', entityId: `e${row % distinct}`, addedAt: at(row % distinct) },
  }));
  const words = [
    ...(await write('users', [{ foreignId: 'u' }])),
    ...(await write('collections', rows)),
    ...(await write('entities', saved)),
  ];
  const said = await runKith(['import', '--project', projectId, '--json', ...words], {
    ...{ ...accessOf(platform), KITH_CWD: folder },
  });
  expect([said.code, said.stderr]).toEqual([0, '']);
  type Counts = { imported: number; unchanged: number; rejected: number };
  const done = longResult<{ files: Counts[] }>(said).files.slice(1);
  // If an answer arrives too late, the command sends the request again. The second request then finds that its rows have been imported
  // already.
  expect(done.map(({ imported, unchanged, rejected }) => [imported + unchanged, rejected])).toEqual([
    [rows.length, 0],
    [entities, 0],
  ]);
}
