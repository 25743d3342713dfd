import * as contracts from '@kith/contracts';
import { z } from 'zod';
import { type JsonObject, ref } from './json.ts';
import { tidy } from './tidy.ts';

/** The schemas that have a name in the document. All other shared schemas are written out in each operation. */
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

/** The JSON Schemas from which a document is written. */
export interface Schemas {
  /** The schemas that have a name. */
  components: Readonly<Record<string, JsonObject>>;
  /** The schema of a body, an answer or a parameter: a reference if it has a name. */
  of(schema: z.ZodType): JsonObject;
}

/**
 * Makes JSON Schema (draft 2020-12) from zod schemas. It converts the input type of each schema, because this is the type that
 * callers send. Answers are not transformed, so for them the input type is also the type that callers receive.
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

/**
 * Converts the named schemas and at most one further schema. If two schemas without names were converted together, and one
 * contained the other, the result would refer to a component that the document does not have.
 */
function convert(beside?: z.ZodType): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  if (beside) registry.add(beside, { id: unnamed });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
    // A rule that JSON Schema cannot express would be missing in the document. So the conversion throws an error.
    unrepresentable: 'throw',
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, tidy(schema) as JsonObject]));
}
