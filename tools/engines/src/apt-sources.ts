import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Source {
  uri: string;
  suites: string[];
}

/** Reads one-line sources (`deb [options] URI suite component…`), the format of `.list` files. */
export function parseList(text: string): Source[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/.exec(line.replace(/#.*/, ''));
    return match ? [{ uri: match[1]!, suites: [match[2]!] }] : [];
  });
}

/** Reads deb822 sources, the format of `.sources` files. This format has paragraphs of fields. Indented lines continue a field. */
export function parseSources(text: string): Source[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  const paragraphs = lines.join('\n').split(/\n\s*\n/);
  return paragraphs.flatMap((paragraph) => {
    const fields = new Map(
      [...paragraph.matchAll(/^([A-Za-z-]+):((?:.*)(?:\n[ \t].*)*)/gm)].map((match) => [
        match[1]!.toLowerCase(),
        match[2]!.trim().split(/\s+/),
      ]),
    );
    const uris = fields.get('uris') ?? [];
    const disabled = fields.get('enabled')?.[0]?.toLowerCase() === 'no';
    if (disabled || !fields.get('types')?.includes('deb')) return [];
    return uris.map((uri) => ({ uri, suites: fields.get('suites') ?? [] }));
  });
}

/**
 * Picks the mirror that serves the release itself. Other mirrors serve only the release's security updates or other people's
 * packages.
 */
export function mirrorOf(codename: string, sources: readonly Source[]): string | undefined {
  const reachable = sources.filter(({ uri }) => /^https?:/.test(uri));
  // If a machine's sources name `stable` or `testing`, no source names the codename. Then the mirror is recognized by its path.
  const source =
    reachable.find(({ suites }) => suites.includes(codename)) ??
    reachable.find(({ uri }) => /\/debian\/*$/.test(uri));
  return source?.uri.replace(/\/+$/, '');
}

/** Reads which Debian mirror this machine installs from. Returns `undefined` if the machine's sources name no mirror. */
export async function machineMirror(codename: string, folder = '/etc/apt'): Promise<string | undefined> {
  const parts = join(folder, 'sources.list.d');
  const names = await readdir(parts).catch(() => []);
  const sources = parseList(await readFile(join(folder, 'sources.list'), 'utf8').catch(() => ''));
  for (const name of names.sort()) {
    const parse = name.endsWith('.sources') ? parseSources : name.endsWith('.list') ? parseList : undefined;
    if (parse) sources.push(...parse(await readFile(join(parts, name), 'utf8')));
  }
  return mirrorOf(codename, sources);
}
