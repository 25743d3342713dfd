import type { Block } from './guide.ts';

/** The words of each `npx kith …` in a block of commands. Variables in front of a command are left out. */
export function kithWordsIn({ text }: Pick<Block, 'text'>): string[][] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  const called = lines.flatMap((line) => line.split('npx kith ')[1] ?? []);
  return called.map((line) =>
    [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
  );
}
