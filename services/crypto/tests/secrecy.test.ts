import { Writable } from 'node:stream';
import { createLogger } from '@kith/base';
import { createRuntime, handlerEngines } from '@kith/testing';
import { expect, test } from 'vitest';
import { startCrypto } from '../src/index.ts';
import { badPems, base64Of, goodPems, oddPems } from './keys.ts';
import { sign } from './sign.ts';

/** All substrings of the text that are 20 characters long. A log that contains one of them contains a part of the key. */
function windows(text: string): string[] {
  return Array.from({ length: Math.max(text.length - 19, 0) }, (_, at) => text.slice(at, at + 20));
}

/**
 * All substrings of 20 characters in three texts: the base64 as sent, each line between the PEM's boundary lines, and these
 * lines joined.
 */
function partsOf(sent: string): string[] {
  const pem = Buffer.from(sent, 'base64').toString('latin1');
  const lines = pem.split('\n').filter((line) => line && !line.startsWith('-----'));
  return [sent, ...lines, lines.join('')].flatMap(windows);
}

test.each(handlerEngines())('no part of a key is logged or answered (%s)', async (engine) => {
  let log = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  await using runtime = await createRuntime(engine);
  const traced = { ...runtime, log: createLogger({ name: 'test', level: 'trace', destination }) };
  const keys = [goodPems, badPems, oddPems]
    .flatMap((pems) => Object.values<string | Buffer>(pems))
    .map(base64Of);
  keys.push(`!${keys[0]}`, `${keys[0]?.slice(0, -1)}`, keys[0]?.replaceAll(/(.{64})/g, '$1\n') ?? '');
  let answers = '';
  {
    await using _service = await startCrypto(traced, { allowTestTokens: true });
    for (const privateKey of keys) {
      answers += (await sign(traced.bus, { projectId: 'p', privateKey, payload: { id: 'u' } })).text;
      // These requests have the key in the body, but fail before the key is read.
      answers += (await sign(traced.bus, { projectId: 7, privateKey, payload: { id: 'u' } })).text;
      answers += (await sign(traced.bus, { projectId: 'p', privateKey: [privateKey], payload: { id: 'u' } }))
        .text;
    }
  }
  expect(log).toContain('"operation":"crypto.sign-testing-jwt"');
  expect(log).toContain('served');
  for (const key of keys) {
    const seen = partsOf(key).filter((part) => log.includes(part) || answers.includes(part));
    expect(seen).toEqual([]);
  }
});
