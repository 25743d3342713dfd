import { z } from 'zod';
import { listQuery } from '../lists.ts';
import { text, timestamp, uuid } from '../scalars.ts';

/** The fields that all operations of connections share. */
export const common = { feature: 'connection', scope: 'project', auth: 'user', shortForm: true } as const;

export const byUser = z.object({ userId: uuid });
export const byConnection = z.object({ connectionId: uuid });
/**
 * The query of a list of people. With `query`, the list has only people whose username or name contains this text, without
 * regard to case. `searchFields` limits the search to one of these two fields.
 */
export const peopleQuery = listQuery({ limit: 20, max: 100 }).extend({
  query: text({ max: 100 })
    .optional()
    .describe('A part of the username or the name. Upper and lower case make no difference.'),
  searchFields: z
    .enum(['username', 'name'])
    .optional()
    .describe('The only field in which `query` is looked for.'),
});

/** A declined request. */
export const declined = z.object({ id: uuid, status: z.literal('declined'), respondedAt: timestamp });
