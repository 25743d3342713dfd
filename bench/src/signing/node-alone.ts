// Measures how many signatures Node itself makes in a second, on its thread pool and with one key object. No service in Node can be
// faster. Prints the rate.
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';

const seconds = Number(process.env.SECONDS ?? '5');
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const data = Buffer.alloc(400, 'a token');
const signed = promisify(sign);

await signed('sha256', data, privateKey);
let signatures = 0;
const began = performance.now();
const until = began + seconds * 1_000;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (performance.now() < until) {
      await signed('sha256', data, privateKey);
      signatures += 1;
    }
  }),
);
process.stdout.write(`${signatures / ((performance.now() - began) / 1_000)}\n`);
