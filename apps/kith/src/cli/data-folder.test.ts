import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dataFolderIn, withResolvedPaths } from './data-folder.ts';

describe('the data folder that a command is about', () => {
  const project = process.cwd();
  const outside = mkdtempSync(join(tmpdir(), 'kith-where-'));
  const inside = mkdtempSync(join(project, 'tests/.example-'));
  afterAll(() => {
    for (const folder of [outside, inside]) rmSync(folder, { recursive: true, force: true });
  });
  const shown = (KITH_CWD: string, env: NodeJS.ProcessEnv = {}) => dataFolderIn({ KITH_CWD, ...env });

  it('a command uses .kith in the folder where it was typed', () => {
    expect(shown(outside)).toBe(join(outside, '.kith'));
    expect(shown(project)).toBe(join(project, '.kith'));
  });

  it('a command uses the project’s .kith if it was typed in a subfolder that has no .kith', () => {
    expect(shown(join(inside, 'deep'))).toBe(join(project, '.kith'));
    mkdirSync(join(inside, '.kith'));
    expect(shown(inside)).toBe(join(inside, '.kith'));
    // A neighbouring folder whose name begins with the project's name is not in the project.
    expect(shown(`${project}-2`)).toBe(`${project}-2/.kith`);
  });

  it('a command uses KITH_DATA, relative to the folder where it was typed', () => {
    expect(shown(outside, { KITH_DATA: 'data' })).toBe(join(outside, 'data'));
    expect(shown(outside, { KITH_DATA: inside })).toBe(inside);
    expect(shown(outside, { KITH_DATA: '' })).toBe(join(outside, '.kith'));
    expect(shown(outside, { KITH_DATA: relative(outside, project) })).toBe(project);
  });
});

it('relative paths of files and folders start at the folder where the command was typed', () => {
  const env = {
    KITH_CWD: '/typed',
    OPERATOR_TOKEN_FILE: 'token',
    MAIL_FOLDER: '../mails',
    SMTP_URL: 'smtp://host',
  };
  expect(withResolvedPaths({ ...env, ENGINE_CERTIFICATES: '/etc/kith' })).toEqual({
    ...{ KITH_CWD: '/typed', OPERATOR_TOKEN_FILE: '/typed/token', MAIL_FOLDER: '/mails' },
    ...{ SMTP_URL: 'smtp://host', ENGINE_CERTIFICATES: '/etc/kith' },
  });
});
