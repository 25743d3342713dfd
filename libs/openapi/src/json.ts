/** A part of the document. */
export type JsonObject = Record<string, unknown>;

/** Refers to a component. */
export function ref(kind: 'schemas' | 'responses' | 'parameters' | 'headers', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Makes `CollectionNotFound` from `collection/not-found`, and `AddEntity` from `add-entity`. */
export function pascalCase(text: string): string {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
