// Writes libs/openapi/openapi.json from the contracts and the recorded examples. With `--check`, it writes nothing, and fails
// if the result would differ.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { documentFile, writeDocument } from '@kith/openapi';

const text = writeDocument();
if (!process.argv.includes('--check')) writeFileSync(documentFile, text);
else if (!existsSync(documentFile) || readFileSync(documentFile, 'utf8') !== text) {
  console.error('libs/openapi/openapi.json differs from the contracts; run tools/openapi.ts');
  process.exit(1);
}
