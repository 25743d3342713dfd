import { ApiError } from '@kith/base';
import type { RequestContext } from './context.ts';

/**
 * Throws `auth/forbidden` if the operator's key is limited to some projects and the request names none of these projects
 * (spec#operator-keys-projects). `projectId` is undefined if the request names no project.
 */
export function refuseOtherProjects(
  { operator }: Pick<RequestContext, 'operator'>,
  projectId: string | undefined,
): void {
  const allowed = operator?.projectIds;
  if (!allowed || (projectId !== undefined && allowed.includes(projectId))) return;
  const message = 'This key is limited to some projects: name one of them as projectId.';
  throw new ApiError('auth/forbidden', { message });
}

/** One page of a walk through many pages. `after` is the position after which the page begins. */
export interface WalkStep {
  after: string | null;
  /** Whether an item of the page belongs to the walk. If the walk has only one project, the item must be in this project. */
  includes(item: { projectId: string }): boolean;
  /** Where the next page begins if this page ended at `end`. The result is null at the end of the walk. */
  next(end: string | null): string | null;
}

/**
 * Reads a step of an operator's walk through the items of all projects, or of one project. The items are ordered by project,
 * and each position begins with the project's id and `|`. Throws what `refuseOtherProjects` throws.
 */
export function walkStep(
  request: Pick<RequestContext, 'operator'> & {
    body: { after: string | null; projectId?: string | undefined };
  },
): WalkStep {
  const { after, projectId } = request.body;
  refuseOtherProjects(request, projectId);
  if (projectId === undefined) return { after, includes: () => true, next: (end) => end };
  const own = `${projectId}|`;
  return {
    after: after?.startsWith(own) ? after : own,
    includes: (item) => item.projectId === projectId,
    next: (end) => (end?.startsWith(own) ? end : null),
  };
}
