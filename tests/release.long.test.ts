// Quick counterpart: tests/package-manifests.test.ts
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyRepository } from './support/repository-copy.ts';

it('npm run release gives every package a new version, and writes the changelog entry from the changesets', async () => {
  await using copy = await copyRepository();
  const at = (file: string) => join(copy.path, file);
  const read = (file: string) => readFile(at(file), 'utf8');
  // Removes the changesets of this repository that wait for a release. They are not part of this test.
  for (const file of await readdir(at('.changeset'))) {
    if (file.endsWith('.md') && file !== 'README.md') await rm(at(`.changeset/${file}`));
  }
  const { version } = JSON.parse(await read('package.json'));
  const release = () =>
    spawnSync(process.execPath, ['tools/release.ts'], { cwd: copy.path, encoding: 'utf8' });
  await writeFile(
    at('.changeset/new.md'),
    `---\n'@kith/contracts': minor\n---\n\nA new endpoint.\nAnd more.\n`,
  );
  await writeFile(at('.changeset/mended.md'), `---\n"@kith/client": patch\n---\n\nA mended method.\n`);
  await writeFile(
    at('.changeset/breaking.md'),
    `---\n'@kith/contracts': minor\n---\n\nWhat breaks: an old name.\n`,
  );
  expect(release().status).toBe(0);

  const [major, minor] = version.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;
  for (const folder of ['.', 'libs/client', 'apps/testing', 'services/gateway']) {
    expect(JSON.parse(await read(`${folder}/package.json`)).version, folder).toBe(next);
  }
  const lock = JSON.parse(await read('package-lock.json'));
  const locked = [lock, lock.packages[''], lock.packages['libs/client']];
  expect(locked.map((entry) => entry.version)).toEqual([next, next, next]);
  expect(JSON.parse(await read('libs/openapi/openapi.json')).info.version).toBe(next);
  const log = await read('CHANGELOG.md');
  const breaks = `### What breaks\n\n- What breaks: an old name.\n\n`;
  const part = `## ${next}\n\n${breaks}### What is new\n\n- A new endpoint.\n  And more.\n\n### What is mended\n\n- A mended method.\n`;
  expect(log).toContain(part);
  expect(log.indexOf(`## ${next}`)).toBeLessThan(log.indexOf(`## ${version}`));
  // The first release has used up all changesets, so a second release fails.
  expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining('no changeset') });
}, 60_000);
