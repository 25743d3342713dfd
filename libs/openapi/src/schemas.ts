import * as contracts from '@kith/contracts';
import { z } from 'zod';
import { type JsonObject, ref } from './json.ts';
import { tidy } from './tidy.ts';

/** What has a name in the document. Whatever else two operations share is written out in both. */
const named: Readonly<Record<string, z.ZodType>> = {
  User: contracts.publicUser,
  OwnUser: contracts.ownUser,
  Session: contracts.session,
  SessionInfo: contracts.sessionInfo,
  SigningKey: contracts.signingKey,
  Connection: contracts.connection,
  ConnectionList: contracts.connectionList,
  ConnectionRequest: contracts.connectionRequest,
  ConnectionPagination: contracts.connectionPagination,
  Pagination: contracts.generalPagination,
  Collection: contracts.collection,
  SavedEntity: contracts.savedEntity,
  Notification: contracts.appNotification,
  Project: contracts.project,
};

/** The schemas of a document. */
export interface Schemas {
  /** The named ones. */
  components: Readonly<Record<string, JsonObject>>;
  /** The schema of a body, an answer or a parameter: a reference if it has a name. */
  of(schema: z.ZodType): JsonObject;
}

/**
 * Makes JSON Schema (draft 2020-12) of zod schemas. Each is taken as its input: what a caller may send, and, as answers
 * are not transformed, what it gets.
 */
export function makeSchemas(): Schemas {
  const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  const made = convert();
  return {
    components: Object.fromEntries(Object.keys(named).map((name) => [name, made[name] as JsonObject])),
    of(schema) {
      const name = names.get(schema);
      return name ? ref('schemas', name) : (convert(schema)[unnamed] as JsonObject);
    },
  };
}

const unnamed = '-';

/** Converts what has a name, and one schema beside. Two without names would refer to each other where one holds the other. */
function convert(beside?: z.ZodType): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  if (beside) registry.add(beside, { id: unnamed });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
    // What has no JSON Schema would be a promise that nobody reads.
    unrepresentable: 'throw',
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, tidy(schema) as JsonObject]));
}
