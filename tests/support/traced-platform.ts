import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caller } from '@kith/platform';
import { compileCache, createPeople, type EngineKind, type People, startPlatform } from '@kith/testing';
import { main } from './command.ts';

/**
 * A platform that runs in processes of its own. It cannot run in the process of the tests, because a process sets up tracing only
 * once for all its code.
 */
export interface TracedPlatform extends People, AsyncDisposable {
  url: string;
  operatorToken: string;
  /** The lines that the platform's processes have logged so far. */
  logs(): Promise<Record<string, unknown>[]>;
  /** Ends the platform in an orderly way. Resolves with the exit code of the embedded form. */
  stop(): Promise<number>;
}

/** Starts a platform whose processes have these variables. */
export async function startTracedPlatform(
  engine: EngineKind,
  env: NodeJS.ProcessEnv,
): Promise<TracedPlatform> {
  if (engine === 'embedded') return embedded({ LOG_LEVEL: 'debug', ...env });
  const platform = await startPlatform({ engine, env });
  const text = platform.logs;
  const stop = async () => {
    await platform.stop();
    return 0;
  };
  return {
    ...platform,
    logs: async () => parsed(await text()),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

/** Starts the embedded form by `kith start`. So everything that the tests check is true for `npm start`, too. */
async function embedded(env: NodeJS.ProcessEnv): Promise<TracedPlatform> {
  const data = await mkdtemp(join(tmpdir(), 'kith-traced-'));
  const operatorToken = 'the-operator-of-the-traced-platform';
  const child = spawn(process.execPath, [main, 'start'], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compileCache(),
      NODE_ENV: 'production',
      KITH_DATA: data,
      PORT: '0',
      INTERNAL_PORT: '0',
      RATE_LIMIT_SCALE: '0',
      OPERATOR_TOKEN: operatorToken,
      KITH_SECRET: 'the-secret-of-the-traced-platform',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const [, found] = /Kith is up at (http:\/\/[\d.:]+\d)/.exec(output) ?? [];
      if (found) resolve(found);
    });
    void exited.then(() => reject(new Error(`It ended before it was up: ${output}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const code = await exited;
    await rm(data, { recursive: true, force: true });
    return code;
  };
  return {
    url,
    operatorToken,
    ...createPeople(caller(url), operatorToken),
    logs: async () => parsed(output),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

function parsed(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));
}
