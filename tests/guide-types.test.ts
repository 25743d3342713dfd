// Starts no platform and at most 1 process.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Block, readBlocks } from './support/guide.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

/** The values that the code of a document uses without defining them. The keys are the documents' paths relative to `docs`. */
const given: Record<string, string> = {
  'second-factors.md': `
    import { createPasskey, getPasskey, isKithError, type KithClient } from '@kith/client';
    declare const kith: KithClient;
    declare const email: string, password: string, code: string;`,
  '../libs/client/README.md': `
    import { getPasskey, type Session } from '@kith/client';
    import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
    declare const url: string, projectId: string, userId: string, collectionId: string;
    declare const email: string, password: string, message: string, draft: { id: string };
    declare const file: File, picture: HTMLImageElement, signal: AbortSignal;
    declare function greet(name: string | null): void;
    declare function print(email: string | null): void;
    declare function show(what: unknown): void;
    declare function report(error: unknown): void;
    declare function reload(): Promise<void>;
    declare function readKeychain(): Promise<Session | null>;
    declare function writeKeychain(session: Session | null): Promise<void>;`,
};

it('the code in the documents has no type errors', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kith-guide-types-'));
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const compilerOptions = {
      ...{ lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'] },
      ...{ module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx', noUnusedLocals: false },
    };
    const files: string[] = [];
    for (const [guide, declarations] of Object.entries(given)) {
      const blocks = (await readBlocks(guide)).filter(({ language }) => /^tsx?$/.test(language));
      const file = `${guide.replaceAll(/\W+/g, '-')}.tsx`;
      await writeFile(join(folder, file), moduleOf(blocks, declarations));
      files.push(file);
    }
    const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const errors = await run(process.execPath, [tsc, '-p', folder, '--pretty', 'false']).then(
      () => '',
      ({ stdout, message }: { stdout: string; message: string }) => stdout || message,
    );
    expect(errors).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});

/**
 * Combines the blocks of a document into one module. Each line has the same number as in the document, so the compiler's
 * messages name lines of the document. Each block is in the scope of all earlier blocks. So a block can use the names of
 * earlier blocks, and define these names again. Imports are moved to the first line.
 */
function moduleOf(blocks: readonly Block[], declarations: string): string {
  const imports = [declarations.replaceAll('\n', ' ')];
  const lines: string[] = [];
  for (const { line, text } of blocks) {
    lines[line - 1] = '{';
    for (const [index, one] of text.split('\n').entries()) {
      const isImport = /^import .*;$/.test(one);
      if (isImport) imports.push(one);
      lines[line + index] = isImport ? '' : one;
    }
  }
  return [
    imports.join(' '),
    ...Array.from(lines.slice(1), (line) => line ?? ''),
    '}'.repeat(blocks.length),
  ].join('\n');
}
