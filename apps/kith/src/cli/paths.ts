import { UsageError } from './command.ts';

/** The path of a project among the operators' endpoints. Throws as {@link segmentOf} does. */
export function projectPath(id: string | undefined): string {
  return `/admin/projects/${segmentOf(id)}`;
}

/**
 * Makes an id a segment of a path. Throws `UsageError` for an id that would make the path of another endpoint: with the id `..`,
 * the path of a key would become the path of its project.
 */
export function segmentOf(id = ''): string {
  if (/^\.{0,2}$/.test(id)) throw new UsageError(`${JSON.stringify(id)} is not an id.`);
  return encodeURIComponent(id);
}
