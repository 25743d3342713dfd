import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { machineMirror, mirrorOf, parseList, parseSources } from './apt-sources.ts';

describe('one-line sources', () => {
  test('are read even with options and comments, and source packages are left out', () => {
    const text = [
      '# deb http://old.example/debian bookworm main',
      'deb http://mirror.example/debian/ bookworm main contrib # ours',
      'deb-src http://mirror.example/debian bookworm main',
      'deb [arch=amd64 signed-by=/k.gpg] https://other.example/apt stable main',
    ].join('\n');
    expect(parseList(text)).toEqual([
      { uri: 'http://mirror.example/debian/', suites: ['bookworm'] },
      { uri: 'https://other.example/apt', suites: ['stable'] },
    ]);
  });
});

describe('deb822 sources', () => {
  test('are read by paragraph, with comments in a paragraph and with field names in upper or lower case', () => {
    const text = [
      'Types: deb deb-src',
      '# URIs: http://snapshot.example/debian',
      'uris: http://mirror.example/debian http://second.example/debian',
      'Suites: bookworm bookworm-updates',
      'Components: main',
      '',
      'Types: deb',
      'URIs: http://mirror.example/debian-security',
      'Suites: bookworm-security',
      'Components: main',
    ].join('\n');
    expect(parseSources(text)).toEqual([
      { uri: 'http://mirror.example/debian', suites: ['bookworm', 'bookworm-updates'] },
      { uri: 'http://second.example/debian', suites: ['bookworm', 'bookworm-updates'] },
      { uri: 'http://mirror.example/debian-security', suites: ['bookworm-security'] },
    ]);
  });

  test('are read even with continued lines and embedded keys', () => {
    const text = [
      'Types: deb',
      'URIs:',
      ' http://mirror.example/debian',
      'Suites: trixie',
      'Signed-By:',
      ' -----BEGIN PGP PUBLIC KEY BLOCK-----',
      ' .',
      ' mQINBF',
    ].join('\n');
    expect(parseSources(text)).toEqual([{ uri: 'http://mirror.example/debian', suites: ['trixie'] }]);
  });

  test('are left out if they are disabled or have only source packages', () => {
    const disabled = 'Enabled: no\nTypes: deb\nURIs: http://a.example/debian\nSuites: bookworm';
    const source = 'Types: deb-src\nURIs: http://a.example/debian\nSuites: bookworm';
    expect(parseSources(`${disabled}\n\n${source}`)).toEqual([]);
  });
});

describe('the mirror', () => {
  test('is the mirror that serves the release itself', () => {
    const sources = [
      { uri: 'https://tools.example/apt', suites: ['stable'] },
      { uri: 'http://mirror.example/debian-security', suites: ['bookworm-security'] },
      { uri: 'http://mirror.example/debian/', suites: ['bookworm'] },
    ];
    expect(mirrorOf('bookworm', sources)).toBe('http://mirror.example/debian');
  });

  test('is recognized by its path if the suites have no codename', () => {
    const sources = [
      { uri: 'http://mirror.example/debian-security', suites: ['stable-security'] },
      { uri: 'http://mirror.example/debian', suites: ['stable'] },
    ];
    expect(mirrorOf('bookworm', sources)).toBe('http://mirror.example/debian');
  });

  test('is undefined if no source can be fetched over the network', () => {
    expect(mirrorOf('bookworm', [{ uri: 'cdrom:[Debian]/', suites: ['bookworm'] }])).toBeUndefined();
  });

  test('is found in files of both formats, and files with other endings are ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kith-apt-'));
    try {
      expect(await machineMirror('bookworm', folder)).toBeUndefined();
      await mkdir(join(folder, 'sources.list.d'));
      await writeFile(
        join(folder, 'sources.list.d', 'x.list.disabled'),
        'deb http://no.example/debian bookworm main',
      );
      const sources = 'Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n';
      await writeFile(join(folder, 'sources.list.d', 'debian.sources'), sources);
      expect(await machineMirror('bookworm', folder)).toBe('http://mirror.example/debian');
      await writeFile(join(folder, 'sources.list'), 'deb http://first.example/debian bookworm main\n');
      expect(await machineMirror('bookworm', folder)).toBe('http://first.example/debian');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
