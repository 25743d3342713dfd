export { codesOf, outside } from './codes.ts';
export { buildDocument } from './document.ts';
export { type Example, type Examples, readExamples } from './examples.ts';
export { documentFile, writeDocument } from './file.ts';
export { tagOf } from './info.ts';
