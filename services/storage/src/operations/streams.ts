// The operations whose bytes go over HTTP, by their short names.
export { createFile as 'create-file' } from './create-file.ts';
export { createImage as 'create-image' } from './create-image.ts';
export { getFile as 'get-file' } from './get-file.ts';
export { getFileVariant as 'get-file-variant' } from './get-file-variant.ts';
export { importFile as 'import-file' } from './import-file.ts';
