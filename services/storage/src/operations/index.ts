// Every operation of the service, by its short name. The operations that take uploads or return bytes are in `streams.ts`.
export { deleteFile as 'delete-file' } from './delete-file.ts';
export { deleteProjectFile as 'delete-project-file' } from './delete-project-file.ts';
export { listFiles as 'list-files' } from './list-files.ts';
