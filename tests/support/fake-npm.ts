import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A program named npm that installs nothing. Like npm, it writes down which packages of the lock file are installed. */
export interface FakeNpm extends AsyncDisposable {
  /**
   * An environment in which this program is found before the real npm. `how` says whether the program fails, hangs halfway,
   * ends when a second call has begun, or interrupts its caller when all is installed.
   */
  env(how?: 'fails' | 'hangs' | 'waits' | 'interrupts'): NodeJS.ProcessEnv;
  /** For each call of the program, the name in the `package.json` of the folder in which it was called. */
  calls(): Promise<string[]>;
}

const program = (log: string) => `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, symlinkSync, watch, writeFileSync } = require('node:fs');
const { name, optionalDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
const { packages: { '': own, ...packages } } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
mkdirSync('node_modules');
const calls = () => readFileSync(${JSON.stringify(log)}, 'utf8').split('\\n').length - 1;
const how = process.env.FAKE_NPM;
if (how === 'waits') {
  const watching = watch(${JSON.stringify(log)}, look);
  function look() {
    if (calls() > 1) watching.close();
  }
  setTimeout(look);
}
process.on('exit', (code) => {
  if (code === 0) writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
});
appendFileSync(${JSON.stringify(log)}, name + '\\n');
if (how === 'hangs') setInterval(() => {}, 1_000);
else if (how === 'fails') process.exit(1);
else {
  for (const node of Object.keys(optionalDependencies)) {
    mkdirSync('node_modules/' + node + '/bin', { recursive: true });
    symlinkSync(process.execPath, 'node_modules/' + node + '/bin/node');
  }
  if (how === 'interrupts') process.kill(process.ppid, 'SIGINT');
}
`;

/** Puts the program into a folder of its own. */
export async function makeFakeNpm(): Promise<FakeNpm> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-npm-'));
  const log = join(folder, 'calls');
  await writeFile(log, '');
  await writeFile(join(folder, 'npm'), program(log));
  await chmod(join(folder, 'npm'), 0o755);
  return {
    env: (how) => ({ PATH: `${folder}:${process.env.PATH}`, ...(how && { FAKE_NPM: how }) }),
    calls: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
