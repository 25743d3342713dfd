// Starts no platform and at most 1 process.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

/** The largest size of the bundle for browsers, minified and gzipped, in bytes. */
const largest = 15_000;

it(`the bundle for browsers contains only sources of the client, and has less than ${largest} bytes`, async () => {
  const folder = fileURLToPath(new URL('../', import.meta.url));
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['src/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs).toContain('src/client.ts');
  expect(inputs.filter((file) => !file.startsWith('src/'))).toEqual([]);
  const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
  expect(size).toBeGreaterThan(1_000);
  expect(size).toBeLessThan(largest);
});
