import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeFlags } from './node-flags.ts';

it.each(['Dockerfile', 'tools/bootstrap.mjs'])(
  '%s repeats the flags, because it cannot import them',
  (file) => {
    const text = readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
    const named = new Set(text.match(/(?<=['"])--m[a-z]+-semi-space-size=\d+/g));
    expect(named).toEqual(new Set(nodeFlags));
  },
);
