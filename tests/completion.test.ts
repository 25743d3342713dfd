// Starts no platform and at most 4 processes.
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Command, commands, type Option, type Word } from '@kith/platform/cli';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));
const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** The words of a command line, and the completions that a shell has to offer for the last word. */
type Question = [words: string[], offers: string[]];

const file = 'a-file';

/**
 * Makes command lines that a shell has to complete, with the expected offers. There is a command line for the names of
 * commands, for the options of each command in the table, and for the values of each option.
 */
function questions(): Question[] {
  const split = commands.map((command) => command.name.split(' '));
  const firsts = [...new Set(split.map(([first = '']) => first))];
  const groups = firsts.filter((first) => split.some((name) => name[0] === first && name.length > 1));
  return [
    [[''], firsts],
    [['sta'], ['start', 'status']],
    [['nonsense', ''], []],
    ...groups.map((group): Question => {
      const seconds = split.flatMap(([first, second]) => (first === group && second ? second : []));
      return [[group, ''], seconds];
    }),
    ...commands.flatMap(questionsOf),
  ];
}

function questionsOf({ name, words = [], options }: Command): Question[] {
  const at = name.split(' ');
  const known = [...Object.keys(options), 'json', 'help'].map((option) => `--${option}`);
  return [
    [[...at, ''], offersFor(words[0])],
    [[...at, '--'], known],
    [[...at, '--json', '--he'], ['--help']],
    ...Object.entries(options)
      .filter(([, { value, choices }]) => value ?? choices)
      .map(([option, of]): Question => [[...at, `--${option}`, ''], offersFor(of)]),
  ];
}

function offersFor(one: Pick<Option | Word, 'value' | 'choices'> | undefined): string[] {
  if (one?.choices) return [...one.choices];
  return one?.value === 'FILE' || one?.value === 'FOLDER' ? [file] : [];
}

const quoted = (word: string) => `'${word}'`;

/** For each shell: makes a script that prints one line for each question. */
const shells = {
  bash: (script: string, asked: readonly string[][]) => `${script}
compopt() { COMPREPLY=(${file}); }
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kith; echo "\${COMPREPLY[*]}"; }
${asked.map((words) => `ask kith ${words.map(quoted).join(' ')}`).join('\n')}`,
  zsh: (script: string, asked: readonly string[][]) => `
compdef() { :; }
_files() { offered=(${file}); }
_describe() { offered=("\${offers[@]%%:*}"); }
${script}
ask() { offered=(); words=("\${pad[@]}" "$@"); CURRENT=$#; _kith; echo "\${offered[*]}"; }
${asked.map((words) => `ask kith ${words.map(quoted).join(' ')}`).join('\n')}`,
  fish: (script: string, asked: readonly string[][]) => `${script}
${asked.map((words) => `echo (complete -C ${quoted(`kith ${words.join(' ')}`)} | string replace -r '\\t.*' '')`).join('\n')}`,
};
type Shell = keyof typeof shells;

describe('kith completion', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-completion-'));
    await writeFile(join(folder, file), '');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** What a shell offers for each question. */
  const answers = async (shell: Shell, asked: readonly string[][], by: string = shell) => {
    const { code, stdout, stderr } = await runKith(['completion', shell], {});
    expect([code, stderr]).toEqual([0, '']);
    // In zsh, the first element of an array has the number 1, and not 0 as in bash. If bash runs the script for zsh, `pad` puts
    // an empty element before the first word.
    const pad = by === 'bash' ? "pad=('')\n" : 'pad=()\n';
    const text = `${shell === 'zsh' ? pad : ''}${shells[shell](stdout, asked)}`;
    const home = { PATH: process.env.PATH, HOME: folder };
    const printed = await run(by, by === 'zsh' ? ['-fc', text] : ['-c', text], { cwd: folder, env: home });
    expect(printed.stderr).toBe('');
    return printed.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').filter(Boolean));
  };
  /** Removes offers that a shell does not show: words that do not begin with the typed text, and options if no `-` is typed. */
  const begun = (word: string, offers: readonly string[]) =>
    offers.filter((one) => one.startsWith(word) && (word.startsWith('-') || !one.startsWith('-'))).toSorted();

  const all = questions();

  it.each([
    ['bash', 'bash'],
    // If zsh is not installed, bash runs the script for zsh. This is possible because the script uses only syntax that bash
    // understands, too.
    ['zsh', has('zsh') ? 'zsh' : 'bash'],
    ...(has('fish') ? ([['fish', 'fish']] as const) : []),
  ] as const)(
    'offers every command, option and value of the table with the script for %s, run by %s',
    async (shell, by) => {
      const asked = all.map(([words]) => words);
      const offered = await answers(shell, asked, by);
      expect(offered).toHaveLength(all.length);
      const found = all.map(([words], at) => [words.join(' '), begun(words.at(-1) ?? '', offered[at] ?? [])]);
      expect(found).toEqual(all.map(([words, offers]) => [words.join(' '), offers.toSorted()]));
    },
  );

  it('makes a script for fish that names every command and option, and has only valid lines', async () => {
    const { stdout } = await runKith(['completion', 'fish'], {});
    const lines = stdout.split('\n').filter((line) => line.startsWith('complete '));
    const whole =
      /^complete -c kith( -f| -n '[^']*'( -F| (-a [\w-]+|-l [\w-]+( -x( -a '[^']*')?| -r -F)?) -d '([^'\\]|\\.)*'))$/;
    expect(lines.filter((line) => !whole.test(line))).toEqual([]);
    for (const { name, words = [], options } of commands) {
      const where = `complete -c kith -n '__kith_in ${name}'`;
      for (const word of words.flatMap(({ choices = [] }) => choices))
        expect(stdout).toContain(`${where} -a ${word} `);
      expect(lines.includes(`${where} -F`)).toBe(offersFor(words[0])[0] === file);
      for (const [option, of] of Object.entries(options)) {
        const behind = of.choices ? ` -x -a '${of.choices.join(' ')}'` : of.value ? ' -x' : '';
        const value = offersFor(of)[0] === file ? ' -r -F' : behind;
        expect(stdout).toContain(`${where} -l ${option}${value} -d `);
      }
    }
  });

  it('works in any folder after the commands of apps/kith/README.md were run, and sends no request to a registry', async () => {
    const guide = await readFile(join(root, 'apps/kith/README.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    const link = blocks.find((text) => text.includes('ln -s')) ?? '';
    const sourced = blocks.flatMap((text) => /^source .*bash.*$/m.exec(text) ?? []);
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const text = `${link.replace('sudo ', '').replace('/usr/local/bin', bin)}
cd '${folder}'
${sourced.join('\n')}
complete -p kith`;
    const PATH = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
    const env = { PATH, HOME: folder, npm_config_offline: 'true' };
    const { stdout, stderr } = await run('bash', ['-c', text], { cwd: root, env });
    expect([stdout, stderr]).toEqual(['complete -F _kith kith\n', '']);
  });
});
