// Writes docs/operations.md: every operation with who may call, its limit, its codes, and the suites that name it.
// `--check` only compares.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import * as contracts from '@kith/contracts';

const root = new URL('../', import.meta.url);
const suites = globSync(['services/*/tests/**/*.test.ts', 'tests/**/*.test.ts'], { cwd: root })
  .toSorted()
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
const names = new Map(
  Object.entries(contracts).map(([exported, value]) => [value as unknown, exported] as const),
);

const rows = contracts.operations.map((operation) => {
  const { path, auth, limit, errors, feature, scope } = operation;
  const method = contracts.methodsOf(operation).join(', ');
  const said = [names.get(operation), operation.name, ...(path.includes(':') ? [] : [path])].map(
    (word) => new RegExp(`(?<![\\w-])${word}(?![\\w/-])`),
  );
  const tests = suites.filter(({ text }) => said.some((word) => word.test(text)));
  // These walk the contracts and so name none.
  if (auth === 'user' && scope === 'project')
    tests.push(...suites.filter((one) => /cross-tenant/.test(one.path)));
  const codes = [
    ...new Set([...errors, ...Object.values(operation.invalid ?? {}), `${feature}/server-error`]),
  ];
  return [
    `\`${method} ${path}\``,
    auth,
    limit ? `${limit.max} / ${limit.windowSeconds / 60} min` : '–',
    codes.map((code) => `\`${code}\``).join(' '),
    [
      ...new Set(tests.map((one) => `[${one.path.replace(/^services\/|\.test\.ts$/g, '')}](../${one.path})`)),
    ].join(' '),
  ];
});

const document = `# Operations

Made from the contracts and the suites by \`scripts/docs-operations.ts\`. Paths are below the project scope, those of
\`/admin\` and \`/.well-known\` below the root. Beside its own codes every operation may answer those of the layers before it:
\`request/…\`, \`route/…\`, \`rate-limit/exceeded\`, \`auth/unauthorized\`, \`auth/forbidden\`, \`gateway/…\`
([services/gateway/tests](../services/gateway/tests)), and \`<feature>/invalid-body\` or \`<feature>/invalid-query\`.

| operation | who | limit | codes | suites |
|---|---|---|---|---|
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`;

const file = new URL('docs/operations.md', root);
const bare = rows.filter((row) => row[4] === '');
if (bare.length > 0) {
  console.error(`No suite names ${bare.map((row) => row[0]).join(', ')}`);
  process.exit(1);
}
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== document) {
    console.error('docs/operations.md is not what the contracts say; run scripts/docs-operations.ts');
    process.exit(1);
  }
} else writeFileSync(file, document);
