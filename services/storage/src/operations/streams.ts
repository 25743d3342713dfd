// The operations that take uploads or return bytes, by their short names. Their bytes are sent over HTTP and not over the bus.
export { createFile as 'create-file' } from './create-file.ts';
export { createImage as 'create-image' } from './create-image.ts';
export { getFile as 'get-file' } from './get-file.ts';
export { getFileVariant as 'get-file-variant' } from './get-file-variant.ts';
export { importFile as 'import-file' } from './import-file.ts';
