import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const script = `
import Module from 'node:module';
await import('@kith/crypto');
const sqlite = process.moduleLoadList.filter((name) => / sqlite$/.test(name));
const mongodb = Object.keys(Module._cache).filter((path) => /[/\\\\\\\\]node_modules[/\\\\\\\\]mongodb[/\\\\\\\\]/.test(path));
const signing = Object.keys(await import('@kith/crypto'));
console.log(JSON.stringify({ sqlite, mongodb, signing }));
`;

it('the crypto service loads no database driver, because it stores nothing', () => {
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(told)).toEqual({
    sqlite: [],
    mongodb: [],
    signing: expect.arrayContaining(['startCrypto']),
  });
});
