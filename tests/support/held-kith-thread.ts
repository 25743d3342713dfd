import { parentPort, workerData } from 'node:worker_threads';
import { runCommandLine } from '@kith/platform/cli';
import type { Said } from './command.ts';

const { words, env, at, gate } = workerData as {
  words: string[];
  env: NodeJS.ProcessEnv;
  at: string;
  gate: SharedArrayBuffer;
};
const said: Said = { code: null, stdout: '', stderr: '' };
let isHeld = false;
const output = (name: 'stdout' | 'stderr') => ({
  write(text: string) {
    said[name] += text;
    if (isHeld || !text.includes(at)) return;
    isHeld = true;
    parentPort?.postMessage('held');
    Atomics.wait(new Int32Array(gate), 0, 0);
  },
});
said.code = await runCommandLine(words, { env, stdout: output('stdout'), stderr: output('stderr') });
parentPort?.postMessage(said);
