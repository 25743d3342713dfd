import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * The test files that the uncommitted changes touch: those that changed themselves, those beside a changed source that
 * import it, however indirectly, those of its package, and for a service one suite of the whole platform.
 */
export async function relatedFiles(): Promise<string[]> {
  return [];
}
void [execFile, readFileSync, glob, dirname, join, relative, resolve, promisify];
