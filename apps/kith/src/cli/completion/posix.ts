import type { Offer, OptionOffer, Place } from './places.ts';

/** The parts of the script that differ between bash and zsh. */
interface Dialect {
  /**
   * The script's lines before its `case` statements. These lines set `at` to the place, `cur` to the current word and `prev` to
   * the word before.
   */
  head: string;
  /** The shell command that completes a word to the path of a file or folder. */
  files: string;
  /** The shell command that completes a word to one of the offered words. */
  offer(offers: readonly Offer[]): string;
  foot: string;
}

const bash: Dialect = {
  head: `# Completion of kith for bash: source <(kith completion bash)
_kith() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at= first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]}
  local -i number=COMP_CWORD
  COMPREPLY=()`,
  files: 'compopt -o default',
  offer: (offers) =>
    `COMPREPLY=($(compgen -W ${quoted(offers.map(({ name }) => name).join(' '))} -- "$cur"))`,
  foot: 'complete -F _kith kith',
};

const zsh: Dialect = {
  head: `# Completion of kith for zsh, once compinit has run: source <(kith completion zsh)
_kith() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT - 1]} at= first=\${words[2]} second=\${words[3]}
  local -i number=CURRENT-1
  local -a offers`,
  files: '_files',
  offer: (offers) =>
    `offers=(${offers.map(({ name, text }) => quoted(text ? `${name}:${text}` : name)).join(' ')}); _describe kith offers`,
  foot: 'compdef _kith kith',
};

export const bashScript = (places: readonly Place[]) => script(bash, places);
export const zshScript = (places: readonly Place[]) => script(zsh, places);

function script(dialect: Dialect, places: readonly Place[]): string {
  const groups = places.filter(({ isGroup, path }) => isGroup && path !== '').map(({ path }) => path);
  const values = places.flatMap(({ path, options }) =>
    options.flatMap((option) => valueCase(dialect, path, option)),
  );
  return `${dialect.head}
  if ((number > 1)); then at=$first; fi
  case $at in
    (${groups.join('|')}) if ((number > 2)); then at="$first $second"; fi ;;
  esac
  case "$at $prev" in
${values.join('\n')}
  esac
  case $at in
${places.map((place) => placeCase(dialect, place)).join('\n')}
  esac
}
${dialect.foot}
`;
}

/** One branch of a `case` statement of the script. It completes the value of an option. */
function valueCase(dialect: Dialect, path: string, { name, value }: OptionOffer): string[] {
  if (value === 'none') return [];
  const offers = value === 'text' ? ':' : value === 'file' ? dialect.files : dialect.offer(value.map(bare));
  return [`    (${quoted(`${path} ${name}`)}) ${offers}; return ;;`];
}

const bare = (name: string): Offer => ({ name, text: '' });

function placeCase(dialect: Dialect, { path, words, takesFile, options }: Place): string {
  const files = takesFile ? `if [[ $cur != -* ]]; then ${dialect.files}; return; fi; ` : '';
  return `    (${quoted(path)}) ${files}${dialect.offer([...words, ...options])} ;;`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
