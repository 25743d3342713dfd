import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lock } from '../bootstrap/sizes.mjs';
import { type Licensed, licencesIn } from '../packages/licences.ts';

/** The files in a package that hold its licence and its notices. A licence may require that the notices are passed on. */
const texts = '{licen[cs]e,LICEN[CS]E,Licen[cs]e,copying,COPYING,notice,NOTICE}*';

/** Lists the third-party packages in a lock file, each with its licence and the texts of its files for licence and notices. */
export function noticesOf(lock: Lock, root: string): string {
  return licencesIn(lock)
    .map((one) => `${[lineOf(one), ...textsOf(join(root, one.path))].join('\n\n')}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

export function lineOf({ name, version, licence, isDevelopment }: Licensed): string {
  return `${name} ${version}: ${licence}${isDevelopment ? ' (development)' : ''}`;
}

function textsOf(folder: string): string[] {
  const files = globSync(texts, { cwd: folder, withFileTypes: true }).filter((one) => one.isFile());
  return files
    .map(({ name }) => name)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim());
}

/**
 * The licences of everything in an image as one SPDX expression. This includes our own licence. Leaves out packages that are
 * built only for other operating systems.
 */
export function expressionOf({ packages, ...lock }: Lock): string {
  const forLinux = Object.entries(packages).filter(([, one]) => (one.os ?? ['linux']).includes('linux'));
  const all = licencesIn({ ...lock, packages: Object.fromEntries(forLinux) }).flatMap(({ licence }) =>
    licence.includes(' OR ') ? [`(${licence.replace(/^\((.*)\)$/, '$1')})`] : licence.split(' AND '),
  );
  return [...new Set(['Apache-2.0', ...all])].sort().join(' AND ');
}
