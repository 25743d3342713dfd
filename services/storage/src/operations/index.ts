// Every operation of the service, by its short name. Operations whose bytes go over HTTP are in `streams.ts`.
export { deleteFile as 'delete-file' } from './delete-file.ts';
export { listFiles as 'list-files' } from './list-files.ts';
