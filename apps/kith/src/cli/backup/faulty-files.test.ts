import type { RecordedBlob } from '@kith/store/backup';
import { expect, it } from 'vitest';
import { FaultyFiles } from './faulty-files.ts';

const fileOf = (id: number) => ({ fileId: `${id}`, projectId: 'p', userId: 'u' });
const blobOf = (file: RecordedBlob['file']): RecordedBlob => ({
  ...{ key: 'p/u/1/small', rowId: 'p|u|1', size: 1 },
  file,
});

it('counts a file once for each fault', async () => {
  const said: string[] = [];
  const faulty = new FaultyFiles((line) => said.push(line));
  const [one, other] = [fileOf(1), { ...fileOf(1), projectId: 'q' }];
  for (const file of [one, other, one]) await faulty.missing(blobOf(file));
  faulty.damaged(blobOf(one));
  expect(faulty.result).toEqual({ damaged: [one], missing: [one, other] });
  faulty.summarize('they are lost');
  expect(said).toEqual([
    'warning: bytes of the file 1 of the user u in the project p are missing',
    'warning: bytes of the file 1 of the user u in the project q are missing',
    'warning: the file 1 of the user u in the project p is damaged',
    'warning: damaged files: 1; only their readable bytes are copied',
    'warning: files with missing bytes: 2; they are lost',
  ]);
});

it('names 1,000 files, and counts all', async () => {
  const said: string[] = [];
  const faulty = new FaultyFiles((line) => said.push(line));
  for (let id = 1; id <= 1_002; id++) await faulty.missing(blobOf(fileOf(id)));
  faulty.summarize('they are lost');
  expect(faulty.result.missing).toHaveLength(1_000);
  expect(said).toHaveLength(1_001);
  expect(said.at(-1)).toBe('warning: files with missing bytes: 1002; they are lost');
});
