import { operations } from '@kith/contracts';
import { buildDocument } from './document.ts';
import { readExamples } from './examples.ts';

/** The committed document. Gateways serve this file too. */
export const documentFile = new URL('../openapi.json', import.meta.url);

/** Makes the text of the committed document, with all operations. */
export function writeDocument(): string {
  return `${JSON.stringify(buildDocument(operations, readExamples()), null, 2)}\n`;
}
