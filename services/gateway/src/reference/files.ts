import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { documentFile } from '@kith/openapi';
import { errorsPage } from './errors-page.ts';

/**
 * How much of the reference is shown (`API_REFERENCE`): all, only the page of errors, or nothing. Problems have links to the
 * page of errors.
 */
export type ReferencePart = 'all' | 'errors' | 'none';

/** A file that is served as it is. */
export interface StaticFile {
  contentType: string;
  body: Uint8Array;
  etag: string;
  isPage: boolean;
  /** The body for clients that accept compression. It is made only once, when the first such client asks for the file. */
  compressed(): Promise<Uint8Array>;
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
} as const;

/**
 * Reads the files of the reference that are shown, and returns them by path. Throws if a file is missing, so that the gateway
 * does not start without the file.
 */
export function readReference(part: ReferencePart): ReadonlyMap<string, StaticFile> {
  if (part === 'none') return new Map();
  const { resolve } = createRequire(import.meta.url);
  const packaged = (name: string) => readFileSync(resolve(`swagger-ui-dist/${name}`));
  const own = (name: string) => readFileSync(new URL(name, import.meta.url));
  const ofErrors = [
    ['/docs/errors', file('html', Buffer.from(errorsPage(part)))],
    ['/docs/page.css', file('css', own('page.css'))],
    ['/docs/icon.png', file('png', packaged('favicon-32x32.png'))],
  ] as const;
  if (part === 'errors') return new Map(ofErrors);
  return new Map([
    ...ofErrors,
    ['/openapi.json', file('json', readFileSync(documentFile))],
    ['/docs', file('html', own('page.html'))],
    ['/docs/page.js', file('js', own('page.js'))],
    ['/docs/swagger-ui.css', file('css', packaged('swagger-ui.css'))],
    ['/docs/swagger-ui.js', file('js', packaged('swagger-ui-bundle.js'))],
  ]);
}

function file(type: keyof typeof types, body: Uint8Array): StaticFile {
  let made: Promise<Uint8Array> | undefined;
  return {
    contentType: types[type],
    body,
    etag: hash('sha256', body, 'base64url').slice(0, 22),
    isPage: type === 'html',
    compressed() {
      made ??= promisify(gzip)(body);
      return made;
    },
  };
}
