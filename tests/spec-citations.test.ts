import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');
const spec = read('docs/spec.md');
const anchors = [...spec.matchAll(/<a id="([^"]*)">/g)].map(([, id = '']) => id);
const known: ReadonlySet<string> = new Set(anchors);
const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(`${root}${file}`));

/**
 * Finds all matches of a pattern in the tracked text files. For each match, returns its place as `file:line`, the matched text,
 * and the text of the capture group.
 */
function find(pattern: RegExp): { at: string; match: string; group: string }[] {
  return files.flatMap((file) => {
    const text = read(file);
    // A file with a zero byte is not a text file.
    if (text.includes('\0')) return [];
    return [...text.matchAll(pattern)].map(({ 0: match, 1: group = '', index }) => {
      const line = text.slice(0, index).split('\n').length;
      return { at: `${file}:${line}`, match, group };
    });
  });
}

it('each anchor of docs/spec.md exists only once', () => {
  expect(anchors.length).toBeGreaterThan(300);
  expect(anchors.filter((id, index) => anchors.indexOf(id) !== index)).toEqual([]);
});

it('each citation names an anchor of docs/spec.md', () => {
  const citations = find(/\bspec#([a-z][a-z0-9-]*)/g);
  expect(citations.length).toBeGreaterThan(200);
  const wrong = citations.filter(({ group }) => !known.has(group));
  expect(wrong.map(({ at, match }) => `${at} ${match}`)).toEqual([]);
});

it('each link inside docs/spec.md leads to an anchor', () => {
  const links = [...spec.matchAll(/\]\(#([^)]*)\)/g)].map(([, id = '']) => id);
  expect(links.filter((id) => !known.has(id))).toEqual([]);
});

it('no citation has the older form, which was written in capital letters', () => {
  const old = find(/\bSPEC(?=[\s.,;:)'’]|$)/gm);
  expect(old.map(({ at, match }) => `${at} ${match}`)).toEqual([]);
});
