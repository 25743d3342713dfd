import * as contracts from '@kith/contracts';
import { z } from 'zod';

type Schema = { [key: string]: unknown };

/** Schemas whose types have other names than the schemas. */
const renamed: Readonly<Record<string, string>> = {
  // The client has its own type `Session`, which it makes from the type of the contract's `session`.
  session: 'sessionAnswer',
  // Mail texts in a request are checked more strictly than mail texts in an answer, but their types are the same.
  givenMailTexts: 'mailTexts',
};
/** Exported schemas of objects, with the names of their types. */
const named = new Map<unknown, string>(
  Object.entries(contracts)
    .filter(([, value]) => value instanceof z.ZodObject)
    .map(([name, value]) => [value, pascal(renamed[name] ?? name)]),
);

/** Prints zod schemas as TypeScript types, as a caller writes and reads them. Collects the declarations of named types. */
export class TypePrinter {
  /** Declarations by name. */
  readonly declarations = new Map<string, string>();

  /** The type of a schema. If the schema cannot be printed as a type, throws an error that names `at`. */
  type(schema: z.ZodType, at: string): string {
    const name = named.get(schema);
    return name ? this.#named(schema, name) : this.#print(this.#jsonSchemaOf(schema), at);
  }

  /**
   * The members of an object schema, each with its name and its type. An optional member is marked with `?`:
   * `["name?", "string | undefined"]`. If a member is sent as a text and then parsed, `io: 'output'` gives it the type of the
   * parsed value.
   */
  members(schema: z.ZodType, at: string, io: 'input' | 'output' = 'input'): [string, string][] {
    const given = this.#jsonSchemaOf(schema);
    if (given.type !== 'object') throw new Error(`${at} is not an object.`);
    const properties = { ...(given.properties as Record<string, Schema> | undefined) };
    if (io === 'output') {
      const { properties: read } = this.#jsonSchemaOf(schema, io) as { properties?: Record<string, Schema> };
      // If a function transforms the text, the function's result has no JSON Schema. The member then stays a text.
      for (const [key, one] of Object.entries(read ?? {})) if ('type' in one) properties[key] = one;
    }
    return Object.keys(properties).map((key) => this.#member({ ...given, properties }, key, at));
  }

  #named(schema: z.ZodType, name: string): string {
    if (!this.declarations.has(name)) {
      // The name is registered before printing, because a type may name itself.
      this.declarations.set(name, '');
      this.declarations.set(name, this.#print(this.#jsonSchemaOf(schema), name));
    }
    return name;
  }

  /** The JSON Schema of the sent data. Named schemas occur in it only as names. */
  #jsonSchemaOf(root: z.ZodType, io: 'input' | 'output' = 'input'): Schema {
    return z.toJSONSchema(root, {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const name = named.get(zodSchema);
        if (!name || (zodSchema as unknown) === root) return;
        for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Schema)[key];
        (jsonSchema as Schema).printed = this.#named(zodSchema as unknown as z.ZodType, name);
      },
    }) as Schema;
  }

  #member(schema: Schema, key: string, at: string): [string, string] {
    const { properties, required } = schema as { properties: Record<string, Schema>; required?: string[] };
    const type = this.#print(properties[key] as Schema, `${at}.${key}`);
    return required?.includes(key) ? [key, type] : [`${key}?`, `${type} | undefined`];
  }

  #print(schema: Schema, at: string): string {
    const { printed, anyOf, oneOf, not, type, items, properties, additionalProperties } = schema;
    if (typeof printed === 'string') return printed;
    // Only one schema of the contracts refers to itself: `z.json()`.
    if ('$ref' in schema) return 'Json';
    const either = (anyOf ?? oneOf) as Schema[] | undefined;
    if (either) return [...new Set(either.map((one) => this.#print(one, at)))].join(' | ');
    if ('const' in schema) return JSON.stringify(schema.const);
    if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (not) return 'never';
    if (Array.isArray(type)) return type.map((one) => this.#print({ ...schema, type: one }, at)).join(' | ');
    if (type === 'array') return `Array<${this.#print(items as Schema, at)}>`;
    if (type === 'object') {
      const members = Object.keys((properties ?? {}) as object)
        .map((key) => this.#member(schema, key, at))
        .map(([key, printedType]) => `${key}: ${printedType};`);
      const rest = additionalProperties as Schema | boolean | undefined;
      if (members.length === 0 && rest && rest !== true) return `Record<string, ${this.#print(rest, at)}>`;
      if (rest) members.push(`[key: string]: ${rest === true ? 'unknown' : this.#print(rest, at)};`);
      return `{ ${members.join(' ')} }`;
    }
    // A query holds a number as a string of digits. Callers of the client pass a number.
    if (type === 'string') return schema.pattern === '^\\d+$' ? 'number' : 'string';
    if (type === 'integer' || type === 'number') return 'number';
    if (type === 'boolean' || type === 'null') return type;
    if (Object.keys(schema).every((key) => key === '$schema')) return 'unknown';
    throw new Error(`${at} has an unsupported schema: ${JSON.stringify(schema)}`);
  }
}

/** Turns `sign-up` and `signUp` into `SignUp`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
