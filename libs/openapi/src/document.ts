import { methodsOf, type OperationSpec } from '@kith/contracts';
import { errorSchemas } from './errors.ts';
import type { Examples } from './examples.ts';
import { headers } from './headers.ts';
import { info, servers, tagOf, tags } from './info.ts';
import type { JsonObject } from './json.ts';
import { describeOperation, pathOf } from './operation.ts';
import { parameters } from './parameters.ts';
import { makeSchemas } from './schemas.ts';
import { securitySchemes } from './security.ts';

/** Makes the OpenAPI 3.1 document of operations. Each operation shows the example of the same name. */
export function buildDocument(operations: readonly OperationSpec[], examples: Examples): JsonObject {
  const schemas = makeSchemas();
  const responses = new Map<string, JsonObject>();
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const path = paths[pathOf(operation)] ?? {};
    paths[pathOf(operation)] = path;
    const parts = { schemas, responses, example: examples[operation.name] };
    for (const method of methodsOf(operation)) {
      path[method.toLowerCase()] = describeOperation(operation, method, parts);
    }
  }
  const used = new Set(operations.map(tagOf));
  return {
    openapi: '3.1.0',
    info,
    servers,
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    components: {
      securitySchemes,
      parameters,
      headers,
      responses: Object.fromEntries(responses),
      schemas: { ...errorSchemas, ...schemas.components },
    },
  };
}
