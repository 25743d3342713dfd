import { globSync, readFileSync } from 'node:fs';
import * as contracts from '@kith/contracts';
import { z } from 'zod';
import { pascal, type TypePrinter } from './schema-to-type.ts';

/** One method of the client. */
export interface ClientMethod {
  group: string;
  method: string;
  operation: contracts.OperationSpec;
  doc: string;
  /** The members of the method's only argument, as they are printed: `["name?", "string | undefined"]`. */
  input: [string, string][];
  /** The printed type of the output; `undefined` if there is no output. */
  output: string | undefined;
  /** If a member of the input chooses the form of the output: the name of this member, for example `type`. */
  chosenBy: string | undefined;
  /** For a list: the key and the type of its items. The key is empty for a bare array. */
  list: { key: string; item: string } | undefined;
  /** Whether the method's answer starts a session. `perhaps` means that some answers have no tokens yet. */
  startsSession: boolean | 'perhaps';
  errors: string[];
}

/**
 * Operations for which `libs/client` has handwritten methods. These operations need the session, or are not a single request
 * with one answer.
 */
const managed = new Set(['identity.sign-out', 'identity.request-new-access-token', 'notifications.stream']);

const groups: Record<contracts.Feature, string> = {
  auth: 'auth',
  user: 'users',
  project: 'projects',
  crypto: 'crypto',
  collection: 'collections',
  connection: 'connections',
  'app-notification': 'notifications',
  storage: 'storage',
};
const exported = new Map(Object.entries(contracts).map(([name, value]) => [value as unknown, name]));
const sources = globSync('libs/contracts/src/operations/*.ts', { cwd: new URL('../../', import.meta.url) })
  .map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
  .join('\n');

/**
 * Who calls the methods: an application that users run, the application's own back end, or operators. The back end has additional
 * methods.
 */
export type Side = 'application' | 'server' | 'operators';

function sideOf({ auth }: contracts.OperationSpec): Side {
  if (auth === 'operator') return 'operators';
  return auth === 'server-key' ? 'server' : 'application';
}

/** Every operation that this side calls, as a method. */
export function methodsOf(printer: TypePrinter, side: Side): ClientMethod[] {
  const methods = contracts.operations
    // Operations that answer with plain text exist only for older client libraries.
    .filter(({ name, contentType }) => !contentType && !managed.has(name))
    .filter((one) => sideOf(one) === side || (side === 'server' && one.serverKeyBody))
    .map((operation) => methodOf(printer, operation, side));
  const names = methods.map(({ group, method }) => `${group}.${method}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`Two operations have the same method name ${twice}.`);
  return methods;
}

/** The operations that the handwritten methods of the client call, by name. */
export function managedOperations(): [string, contracts.OperationSpec][] {
  const found = contracts.operations.filter(({ name }) => managed.has(name));
  if (found.length < managed.size)
    throw new Error('The client calls an operation that does not exist any more.');
  return found.map((operation) => [methodName(operation.name, operation.feature), operation]);
}

function methodOf(printer: TypePrinter, declared: contracts.OperationSpec, side: Side): ClientMethod {
  const body = (side === 'server' && declared.serverKeyBody) || declared.body;
  const operation = { ...declared, body };
  const { name, feature, status } = operation;
  const group = groups[feature];
  if (!['request', 'export', 'upload', 'download', undefined].includes(operation.kind)) {
    throw new Error(`${name}: the client has no methods for operations of the kind ${operation.kind}.`);
  }
  if (!group)
    throw new Error(
      `${name}: its feature ${feature} has no group: add one to groups in tools/client/methods.ts.`,
    );
  const method = methodName(name, feature);
  const at = `${side === 'server' ? 'Server' : ''}${pascal(group)}${pascal(method)}`;
  const list = listOf(printer, operation, at);
  return {
    group,
    method,
    operation,
    doc: docOf(declared),
    input: inputOf(printer, operation, at),
    output: list || status === 204 ? undefined : outputOf(printer, operation, at),
    chosenBy: list ? undefined : choiceOf(operation),
    list,
    startsSession:
      operation.output === contracts.signedUp ? 'perhaps' : operation.output === contracts.session,
    errors: errorsOf(operation),
  };
}

/**
 * Turns `identity.get-user-by-username` into `getByUsername`. In the features `user` and `project`, leaves out the word for the
 * feature, because the name of the method's group already contains this word.
 */
function methodName(name: string, feature: string): string {
  const said = feature === 'user' || feature === 'project' ? [feature, `${feature}s`] : [];
  const words = name.slice(name.indexOf('.') + 1).split('-');
  const rest = pascal(words.filter((word) => !said.includes(word)).join('-'));
  return rest.charAt(0).toLowerCase() + rest.slice(1);
}

function outputOf(printer: TypePrinter, operation: contracts.OperationSpec, at: string): string {
  return operation.kind === 'download' ? 'Response' : printer.type(operation.output, at);
}

/** Finds the member of the body that chooses the form of the output. In each form of the output, this member is a constant. */
function choiceOf({ body, output }: contracts.OperationSpec): string | undefined {
  if (!(output instanceof z.ZodUnion)) return undefined;
  const forms = output.options as z.ZodType[];
  return Object.keys((body as z.ZodObject).shape).find((key) =>
    forms.every((form) => form instanceof z.ZodObject && form.shape[key] instanceof z.ZodLiteral),
  );
}

function inputOf(printer: TypePrinter, operation: contracts.OperationSpec, at: string): [string, string][] {
  const { params, query, body, upload } = operation;
  const members = [params, query].flatMap((part) => printer.members(part, `${at}Input`));
  if (upload) {
    members.push([upload.part, 'UploadSource'], ['name?', 'string | undefined']);
  }
  members.push(...printer.members(body, `${at}Input`, upload ? 'output' : 'input'));
  const names = members.map(([key]) => key.replace('?', ''));
  if (new Set(names).size !== names.length) {
    throw new Error(`${operation.name} uses one name twice in its parameters, query and body.`);
  }
  return members;
}

function listOf(printer: TypePrinter, operation: contracts.OperationSpec, at: string): ClientMethod['list'] {
  if (!('cursor' in operation.query.shape)) return undefined;
  // Some operations can also answer with a bare list, but only at addresses that the client does not use.
  const { output } = operation;
  const options = output instanceof z.ZodUnion ? (output.options as z.ZodType[]) : [output];
  const envelope = options.find((one) => one instanceof z.ZodObject) ?? output;
  if (envelope instanceof z.ZodArray)
    return { key: '', item: printer.type(envelope.element as z.ZodType, `${at}Item`) };
  const lists = Object.entries<z.ZodType>((envelope as z.ZodObject).shape);
  for (const [key, array] of lists) {
    if (array instanceof z.ZodArray)
      return { key, item: printer.type(array.element as z.ZodType, `${at}Item`) };
  }
  throw new Error(`${operation.name} takes a cursor but does not answer with a list.`);
}

function errorsOf({ errors, invalid, feature, body, query }: contracts.OperationSpec): string[] {
  const own: string[] = [...errors, ...Object.values(invalid ?? {}), `${feature}/server-error`];
  if (Object.keys((body as z.ZodObject).shape).length > 0) own.push(`${feature}/invalid-body`);
  if (Object.keys(query.shape).length > 0) own.push(`${feature}/invalid-query`);
  return [...new Set(own)];
}

/** The docstring of an operation's declaration, without its references to docs/spec.md and docs/adr. */
function docOf(operation: contracts.OperationSpec): string {
  const name = exported.get(operation);
  const found = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*export const ${name} = `).exec(
    sources,
  )?.[1];
  if (!found) throw new Error(`${operation.name} has no docstring.`);
  return found
    .replaceAll(/\n\s*\*/g, ' ')
    .replaceAll(/\s*\((?:spec#|docs\/adr)[^)]*\)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
