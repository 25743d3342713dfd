import { globSync, readFileSync } from 'node:fs';

/** A request and its answer, recorded from a running platform. */
export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  /** Absent if the answer has no body. */
  answer?: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

const folder = new URL('../examples/', import.meta.url);

/** Reads the recorded examples. The keys are the names of the operations. */
export function readExamples(): Examples {
  const files = globSync('*.json', { cwd: folder }).toSorted();
  return Object.assign({}, ...files.map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'))));
}
