/** An import, as a file writes it. */
export interface Import {
  file: string;
  line: number;
  name: string;
}

const form = /(?:^|[\s;}])(?:from|import)\s*\(?\s*['"]([^'"\n]+)['"]/g;

/** The imports in a source, static and dynamic, with their names. */
export function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(form)].map(({ 1: name = '', index }) => ({
    ...{ file, name },
    line: text.slice(0, index + 1).split('\n').length,
  }));
}
