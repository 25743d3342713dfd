// Writes docs/metrics.md: every metric with its type, its labels and its meaning. With `--check`, it writes nothing, and fails
// if the result would differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { Metrics } from '@kith/base';

interface Metric {
  name: string;
  help: string;
  type: string;
  labelNames: string[];
}

const all = new Metrics({ process: true }).registry.getMetricsAsArray() as unknown as Metric[];
const [own, ofProcess] = [true, false].map((isOwn) =>
  all
    .filter(({ name }) => name.startsWith('kith_') === isOwn)
    .map(({ name, help, type, labelNames }) => {
      const labels = labelNames.map((label) => `\`${label}\``).join(' ');
      return `| \`${name}\` | ${type} | ${labels} | ${help.replace(/\.$/, '')} |`;
    })
    .join('\n'),
);

const document = `# Metrics

Made from \`libs/base/src/telemetry/metrics.ts\` by \`tools/docs-metrics.ts\`. Every process serves its metrics at
\`/metrics\` on its \`INTERNAL_PORT\`, as Prometheus text. A gateway reports the metrics of HTTP, and a service reports the metrics
of operations. In the embedded form, one process reports all of them. No label names a project, a user or an address, so the
contracts limit the number of series. If a process cannot read a gauge within a second, it leaves the gauge out of that scrape.
[observability.md](observability.md) explains how to use the metrics.

| metric | type | labels | what it says |
|---|---|---|---|
${own}

## Of the process

These are the default metrics of prom-client. Dashboards for Node use these names.

| metric | type | labels | what it says |
|---|---|---|---|
${ofProcess}
`;

const file = new URL('../docs/metrics.md', import.meta.url);
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== document) {
    console.error('docs/metrics.md differs from metrics.ts; run tools/docs-metrics.ts');
    process.exit(1);
  }
} else writeFileSync(file, document);
