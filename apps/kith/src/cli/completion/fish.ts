import type { OptionOffer, Place } from './places.ts';

/** The script for fish. */
export function fishScript(places: readonly Place[]): string {
  return `# Completion of kith for fish: kith completion fish | source
function __kith_at
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"
end
function __kith_in
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end
complete -c kith -f
${places.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, isGroup, words, takesFile, options }: Place): string[] {
  const where = `complete -c kith -n ${quoted(`${isGroup ? '__kith_at' : '__kith_in'} ${path}`.trim())}`;
  return [
    ...(takesFile ? [`${where} -F`] : []),
    ...words.map(({ name, text }) => `${where} -a ${name} -d ${quoted(text)}`),
    ...options.map(
      ({ name, text, value }) => `${where} -l ${name.slice(2)}${argumentOf(value)} -d ${quoted(text)}`,
    ),
  ];
}

function argumentOf(value: OptionOffer['value']): string {
  if (value === 'none') return '';
  if (value === 'file') return ' -r -F';
  return value === 'text' ? ' -x' : ` -x -a ${quoted(value.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
