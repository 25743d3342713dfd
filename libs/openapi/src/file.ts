import { operations } from '@kith/contracts';
import { buildDocument } from './document.ts';
import { readExamples } from './examples.ts';

/** The committed document, which is also what gateways serve. */
export const documentFile = new URL('../openapi.json', import.meta.url);

/** The text of the document of all operations, as it is committed. */
export function writeDocument(): string {
  return `${JSON.stringify(buildDocument(operations, readExamples()), null, 2)}\n`;
}
