import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FormFigures, FormParts } from './measure.ts';

const run = promisify(execFile);

/** Measures the embedded form, in a process of its own. */
export async function measureEmbedded(
  options: Pick<FormParts, 'sizes' | 'progress'> & { folder: string },
): Promise<FormFigures> {
  const script = fileURLToPath(new URL('embedded-main.ts', import.meta.url));
  const env = {
    PATH: process.env.PATH,
    FOLDER: mkdtempSync(join(options.folder, 'embedded-')),
    EACH: String(options.sizes.each),
    BURST: String(options.sizes.burst),
  };
  const running = run(process.execPath, [script], { env });
  running.child.stderr?.on('data', (lines: Buffer) =>
    options.progress(`embedded: ${lines.toString().trim()}`),
  );
  return JSON.parse((await running).stdout) as FormFigures;
}
