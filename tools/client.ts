// Writes libs/client/src/generated from the contracts: the client's methods and their types. With `--check`, it writes nothing,
// and fails if the result would differ.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errors, type OperationSpec, takesKey } from '@kith/contracts';
import { type ClientMethod, managedOperations, methodsOf } from './client/methods.ts';
import { pascal, TypePrinter } from './client/schema-to-type.ts';

const root = new URL('../', import.meta.url);
const printer = new TypePrinter();
const application = methodsOf(printer, 'application');
const server = methodsOf(printer, 'server');
const operators = methodsOf(printer, 'operators');
const headline = '// Made from the contracts by tools/client.ts.\n';

const layers = /^(request|route|rate-limit|gateway)\//;
const ofEveryToken = ['auth/unauthorized', 'auth/forbidden', 'auth/suspended'];
// A call of a signed-in user first gets a new access token if the old one has expired, and this can be refused, too.
const ofRefreshes = ['auth/token-reuse-detected', 'auth/server-error'];
const ofProjects = ['project/invalid-id', 'project/not-found'];
const ofLayers = Object.keys(errors).filter((code) => layers.test(code));
const common = [...ofLayers, ...ofEveryToken, ...ofRefreshes, ...ofProjects];
const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' | ') || 'never';
// Printing a method also collects the declarations of the types that the method names. So all methods are printed before these
// declarations.
const methodTypes = [...application, ...operators].map((method) => printTypes(method)).join('\n');
const serverTypes = server.map((method) => printTypes(method)).join('\n');
const own = Object.keys(errors).filter((code) => !common.includes(code));

const types = `${headline}
import type { UploadSource } from '../upload-options.ts';

/** What JSON can hold. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * Error codes that every call may get. They come from the layers that a request passes before it reaches its operation, and
 * from the refresh of an access token.
 */
export type CommonErrorCode = ${quoted(common)};

/** Every code of the API. */
export type ErrorCode = CommonErrorCode | ${quoted(own)};

${[...printer.declarations].map(([name, type]) => `export interface ${name} ${type}`).join('\n\n')}

/** The input, the output and the error codes of each method, by the method's name in the client. */
export interface Methods {
${methodTypes}
}

/** The input, the output and the error codes of each method that only an application's own back end calls. */
export interface ServerMethods {
${serverTypes}
}
`;

const files: Record<string, string> = {
  'types.ts': types,
  'application.ts': printMethods(application) + printManaged(),
  'server.ts': printMethods(server, 'ServerMethods'),
  'operators.ts': printMethods(operators),
};

let differs = false;
for (const [name, text] of Object.entries(files)) {
  const file = new URL(`libs/client/src/generated/${name}`, root);
  const written = format(text, fileURLToPath(file));
  if (!process.argv.includes('--check')) writeFileSync(file, written);
  else if (readFileSync(file, 'utf8') !== written) {
    console.error(`libs/client/src/generated/${name} differs from the contracts; run tools/client.ts`);
    differs = true;
  }
}
if (differs) process.exit(1);

function printTypes({ group, method, operation, input, output, list, errors: codes }: ClientMethod): string {
  const members = input.map(([key, type]) => `${key}: ${type};`).join(' ');
  return `'${group}.${method}': {
    operation: '${operation.name}';
    input: ${members ? `{ ${members} }` : 'undefined'};
    output: ${list ? `Array<${list.item}>` : (output ?? 'undefined')};
    errors: ${quoted(codes)};
  };`;
}

/** Prints an interface for each group, and a table of all methods. The running client makes its methods from this table. */
function printMethods(methods: readonly ClientMethod[], types = 'Methods'): string {
  const groups = Map.groupBy(methods, ({ group }) => group);
  const interfaces = [...groups].map(
    ([group, of]) =>
      `export interface ${pascal(group)}Methods {\n${of.map((one) => printSignature(one, types)).join('\n')}\n}`,
  );
  const table = [...groups].map(([group, of]) => `${group}: {\n${of.map(printRow).join('\n')}\n},`);
  const all = [...groups.keys()].map((group) => `readonly ${group}: ${pascal(group)}Methods;`);
  const text = `${interfaces.join('\n\n')}

/** All groups of methods. */
export interface MethodGroups {
${all.join('\n')}
}

export const operations = {
${table.join('\n')}
} satisfies OperationTable;
`;
  const named = [...printer.declarations.keys(), 'Json', types].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(interfaces.join()),
  );
  const optionTypes = ['CallOptions', 'OperationTable', 'WriteOptions'].filter((name) => text.includes(name));
  const own = [...new Set(text.match(/\b(Session)\b(?=>)/g) ?? [])];
  return `${headline}${/\bList</.test(text) ? "import type { List } from '../list.ts';\n" : ''}import type { ${optionTypes.join(', ')} } from '../operation.ts';
${own.length > 0 ? "import type { Session } from '../session.ts';\n" : ''}${/\bUploadOptions\b/.test(text) ? "import type { UploadOptions } from '../upload-options.ts';\n" : ''}import type { ${named.toSorted().join(', ')} } from './types.ts';

${text}`;
}

function printSignature(of: ClientMethod, types: string): string {
  const { group, method, operation, doc, input, output, chosenBy, list, startsSession, errors: codes } = of;
  const entry = `${types}['${group}.${method}']`;
  const optional = input.every(([key]) => key.endsWith('?')) ? '?' : '';
  const choice = chosenBy && `{ ${chosenBy}: Chosen }`;
  const generic = chosenBy ? `<Chosen extends ${entry}['input']['${chosenBy}']>` : '';
  const type = `${entry}['input']${choice ? ` & ${choice}` : ''}`;
  const taken = input.length > 0 ? `input${optional}: ${type}, ` : '';
  // A long type is written only in `types.ts`. A short type is easier to read here.
  const isLong = output !== undefined && output.length > 100;
  const whole = isLong ? `${entry}['output']` : (output ?? 'void');
  const plain = choice ? `Extract<${entry}['output'], ${choice}>` : whole;
  const answer = startsSession ? (startsSession === 'perhaps' ? `${plain} | Session` : 'Session') : plain;
  const given = list ? `List<${list.item}>` : `Promise<${answer}>`;
  return `/**
   * ${doc}
   *
   * Errors of this method: ${codes.map((code) => `\`${code}\``).join(', ')}.
   */
  ${method}${generic}(${taken}options?: ${optionsOf(operation)}): ${given};`;
}

function optionsOf(operation: OperationSpec): string {
  if (operation.upload) return 'UploadOptions';
  return takesKey(operation) ? 'WriteOptions' : 'CallOptions';
}

function printRow({ method, operation, input, list, startsSession }: ClientMethod): string {
  const { scope, auth, path, query } = operation;
  const verb = typeof operation.method === 'string' ? operation.method : operation.method[0];
  const row: Record<string, unknown> = { method: verb, path, auth };
  if (scope === 'none') row.isGlobal = true;
  if (list) row.list = list.key;
  if (startsSession) row.startsSession = true;
  if (operation.upload) row.upload = operation.upload.part;
  if (operation.kind === 'download') row.givesBytes = true;
  if (takesKey(operation)) row.takesKey = true;
  if (input.length > 0) row.takesInput = true;
  // A GET has no body. So all input that is not in the path is in the query.
  const keys = Object.keys(query.shape);
  if (verb !== 'GET' && keys.length > 0) row.query = keys;
  return `${method}: ${JSON.stringify(row)},`;
}

function printManaged(): string {
  const rows = managedOperations().map(([name, { method, path, auth }]) => {
    return `${name}: ${JSON.stringify({ method, path, auth })},`;
  });
  return `
/** The operations that the handwritten methods of the client call. */
export const managed = {
${rows.join('\n')}
} as const;
`;
}

function format(text: string, file: string): string {
  const biome = fileURLToPath(new URL('node_modules/@biomejs/biome/bin/biome', root));
  const words = [biome, 'check', '--write', `--stdin-file-path=${file}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    input: text,
    encoding: 'utf8',
    cwd: root,
  });
  if (status !== 0 && !stdout) throw new Error(`${file} could not be formatted: ${stderr}`);
  return stdout;
}
