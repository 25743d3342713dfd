// Writes docs/operations.md. For every operation, the file lists the allowed callers, the limit and the codes. It also lists
// the suites that reach all of these codes through the gateway, and the other suites that name the operation. For every code,
// the file lists the suites that reach the code. With `--check`, it writes nothing, and fails if the result would differ.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import * as contracts from '@kith/contracts';
import { fileOf, type PartName, parts } from '../tests/support/surface/parts.ts';

const root = new URL('../', import.meta.url);
const suites = globSync(['services/*/tests/**/*.test.ts', 'tests/**/*.test.ts'], { cwd: root })
  .toSorted()
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
const others = suites.filter(({ path }) => !path.startsWith('tests/surface/'));
const surface = (Object.keys(parts) as PartName[]).map((name) => ({
  ...parts[name],
  path: `tests/surface/${fileOf(name)}`,
}));
const linksTo = (paths: readonly string[]) =>
  [...new Set(paths)]
    .map((path) => `[${path.replace(/^services\/|(\.test)?\.ts$/g, '')}](../${path})`)
    .join(' ');
const names = new Map(
  Object.entries(contracts).map(([exported, value]) => [value as unknown, exported] as const),
);

const rows = contracts.operations.map((operation) => {
  const { path, auth, limit, errors, feature, scope } = operation;
  const method = contracts.methodsOf(operation).join(', ');
  const said = [names.get(operation), operation.name, ...(path.includes(':') ? [] : [path])].map(
    (word) => new RegExp(`(?<![\\w-])${word}(?![\\w/-])`),
  );
  const whole = surface.filter((part) => part.operations.includes(operation));
  const tests = others.filter(({ text }) => said.some((word) => word.test(text)));
  // The cross-tenant suite takes its operations from the contracts, so its source names no operation.
  if (auth === 'user' && scope === 'project')
    tests.push(...others.filter((one) => /cross-tenant/.test(one.path)));
  const codes = [
    ...new Set([...errors, ...Object.values(operation.invalid ?? {}), `${feature}/server-error`]),
  ];
  return [
    `\`${method} ${path}\``,
    auth,
    limit ? `${limit.max} / ${limit.windowSeconds / 60} min` : '–',
    codes.map((code) => `\`${code}\``).join(' '),
    linksTo(whole.map(({ path }) => path)),
    linksTo(tests.map(({ path }) => path)),
  ];
});

/**
 * For each code, those suites of tests/surface that have to reach the code. If there are none, the suites that name the code.
 */
const codeRows = Object.entries(contracts.errors).map(([code, { status }]) => {
  const reached = surface.filter(({ operations, outcomes }) =>
    operations.some((spec) => outcomes(spec).some((outcome) => outcome.split(' ', 1)[0] === code)),
  );
  const naming = reached.length > 0 ? [] : suites.filter(({ text }) => text.includes(`'${code}'`));
  return [`\`${code}\``, String(status), linksTo([...reached, ...naming].map(({ path }) => path))];
});

const document = `# Operations

Made from the contracts and the suites by \`tools/docs-operations.ts\`. The first suite of an operation calls it through
the gateway of a whole platform, on every engine. The suite fails if it has not seen the operation's success, each of its codes,
and a refusal of each field of body and query. The suite of outages fails if it has not seen the operation's \`…/server-error\`.
Paths are below the project scope; the paths of \`/admin\` and \`/.well-known\` are below the root. In addition to its own codes,
every operation may answer with the codes of the layers that a request passes first: \`request/…\`, \`route/…\`,
\`rate-limit/exceeded\`, \`project/invalid-id\`, \`project/not-found\`, \`auth/unauthorized\`, \`auth/forbidden\`,
\`auth/suspended\`, \`auth/token-expired\`, \`gateway/…\`
([services/gateway/tests](../services/gateway/tests)), and \`<feature>/invalid-body\` or \`<feature>/invalid-query\`.

| operation | who | limit | codes | through the gateway | others that name it |
|---|---|---|---|---|---|
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}

# Codes

Each suite causes the situation that the code stands for, and checks that the answer has the code. A code without a suite is
never used, because every wrong body or query of the feature is answered with a more specific code.

| code | status | suites |
|---|---|---|
${codeRows.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`;

const file = new URL('docs/operations.md', root);
const bare = [
  ...rows.filter((row) => row[4] === ''),
  ...codeRows.filter(([code, , tests]) => !tests && !/\/invalid-(body|query)`$/.test(code ?? '')),
];
if (bare.length > 0) {
  console.error(`No suite covers ${bare.map((row) => row[0]).join(', ')}`);
  process.exit(1);
}
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== document) {
    console.error('docs/operations.md differs from the contracts; run tools/docs-operations.ts');
    process.exit(1);
  }
} else writeFileSync(file, document);
