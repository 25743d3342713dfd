import { writeFileSync } from 'node:fs';
import type { Asked } from '../population.ts';

/** Writes requests in the format that `requests.lua` reads. The file's tokens are only for the benchmark, and its mode is 0600. */
export function writeRequests(
  file: string,
  requests: readonly Asked[],
  target: (asked: Asked, at: number) => { method?: string; path: string; body?: object },
): string {
  const lines = requests.map((asked, at) => {
    const { method = 'GET', path, body } = target(asked, at);
    const words = [method, path, asked.person.token, asked.address, asked.person.userId];
    return [...words, ...(body ? [JSON.stringify(body)] : [])].join('\t');
  });
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}
