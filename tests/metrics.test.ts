// Starts at most 2 platforms and 7 processes.
import { readFileSync } from 'node:fs';
import { Metrics } from '@kith/base';
import { type Collection, operations } from '@kith/contracts';
import { availableEngines, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectCounted } from './support/expect-counted.ts';
import { http } from './support/http.ts';
import { alertRules, dashboardExpressions, namesIn } from './support/promql.ts';
import { type Scrape, samplesOf, scrape } from './support/scrape.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
/**
 * Labels and metrics that Kith itself does not declare. Prometheus adds `job`, `instance` and `up`. It also adds `process`,
 * because prometheus.yml says so. Histograms have the label `le`.
 */
const ownLabels = ['job', 'instance', 'process', 'le'];
const ownMetrics = ['up'];

const alerts = alertRules(read('deploy/prometheus/alerts.yml'));
const expressions = [
  ...dashboardExpressions(JSON.parse(read('deploy/grafana/kith.json'))),
  ...alerts.map(({ expression }) => expression),
];

it.each(expressions)('the dashboard or the alerts contain valid PromQL: %s', (expression) => {
  expect(() => namesIn(expression)).not.toThrow();
});

it.each(alerts)('the alert $name shows only labels that its expression keeps', ({ expression, shown }) => {
  const { grouping } = namesIn(expression);
  expect(shown.filter((label) => grouping.size > 0 && !grouping.has(label))).toEqual([]);
});

it('every alert names its section of the guide', () => {
  const sections = read('docs/alerts.md').matchAll(/^## (Kith\w+)$/gm);
  expect([...sections].map(([, name]) => name)).toEqual(alerts.map(({ name }) => name));
  for (const { name, guide } of alerts) expect(guide, name).toBe(`docs/alerts.md#${name.toLowerCase()}`);
});

// An upload or a download lasts as long as the client's connection needs. If the alert about slow requests included these
// operations, clients with slow connections would trigger it.
it.each(expressions.filter((one) => one.includes('_duration_seconds_bucket')))(
  'an expression about request times leaves out the operations whose duration depends on the client: %s',
  (expression) => {
    const [, pattern] = /operation!~"([^"]*)"/.exec(expression) ?? [];
    const leftOut = operations.filter(({ name }) => new RegExp(`^(?:${pattern})$`).test(name));
    const isInGateway = expression.includes('kith_http_request');
    const kinds = ['upload', 'download', ...(isInGateway ? ['stream', 'export'] : [])];
    const lasting = operations.filter(({ kind = 'request' }) => kinds.includes(kind));
    expect(leftOut.map(({ name }) => name)).toEqual(lasting.map(({ name }) => name));
  },
);

it('Prometheus scrapes every process of docker-compose', () => {
  const processes = read('docker-compose.yml').matchAll(/^ {2}([a-z-]+):\n {4}<<: \*service$/gm);
  const targets = read('deploy/prometheus/prometheus.yml').matchAll(/^ {10}- ([a-z-]+)$/gm);
  const sorted = (found: Iterable<RegExpExecArray>) => [...found].map(([, name]) => name).toSorted();
  expect(sorted(targets)).toEqual(sorted(processes));
});

describe.each(availableEngines())('metrics (%s)', (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  let scraped: Scrape;
  /** The metrics of all processes before the requests are sent. The tests check the effects of these requests. */
  let earlier: Scrape;

  beforeAll(async () => {
    const limits = { 'collections.rename': { max: 2, windowSeconds: 300 } };
    platform = await startPlatform({
      engine,
      env: { RATE_LIMIT_SCALE: '1', RATE_LIMITS: JSON.stringify(limits) },
    });
    await expectCounted(platform.internalUrls, async () => {
      earlier = await scrape(platform.internalUrls);
      const { id: projectId } = await platform.createProject();
      ada = await platform.createUser(projectId, { name: 'Ada' });
      const grace = await platform.createUser(projectId, { name: 'Grace' });
      const collection: Collection = await platform.createCollection(ada, 'Books');
      await platform.connect(ada, grace, 'Hello');
      const rename = (name: unknown) =>
        http(platform.url, {
          method: 'PATCH',
          path: `/v7/${projectId}/collections/${collection.id}`,
          token: ada.accessToken,
          body: { name },
        });
      expect((await rename('Read')).status).toBe(200);
      expect((await rename('')).status).toBe(400);
      expect((await rename('Once more')).status).toBe(429);
      await http(platform.url, { method: 'PROPFIND', path: '/nowhere' });
      await waitFor(async () => {
        scraped = await scrape(platform.internalUrls);
        const applied = added('kith_event_lag_seconds_count', { durable: 'notifications-feed' });
        return applied >= 2 && added('kith_http_requests_total', { operation: 'none' }) === 1;
      });
      expect(added('kith_limiter_redis_errors_total')).toBe(0);
      expect(Math.max(...value('kith_limiter_degraded'))).toBe(0);
    });
  });
  afterAll(() => platform?.stop());

  const value = (name: string, labels: Record<string, string> = {}) =>
    samplesOf(scraped, name, labels).map((sample) => sample.value);
  /** How much a counter has grown in all processes together since `earlier`. */
  const added = (name: string, labels: Record<string, string> = {}) => {
    const sumIn = (from: Scrape) => samplesOf(from, name, labels).reduce((sum, { value }) => sum + value, 0);
    return sumIn(scraped) - sumIn(earlier);
  };

  it('the metrics count requests by operation in gateway and services', () => {
    const operation = 'collections.rename';
    const http = (status: string) =>
      added('kith_http_requests_total', { operation, method: 'PATCH', status });
    expect([http('200'), http('400'), http('429')]).toEqual([1, 1, 1]);
    expect(added('kith_http_request_duration_seconds_count', { operation, status: '200' })).toBe(1);
    expect(added('kith_http_requests_total', { operation: 'none', method: '_OTHER' })).toBe(1);
    expect(added('kith_operations_total', { operation, outcome: 'ok' })).toBe(1);
    const refused = { operation, outcome: 'refused', code: 'collection/invalid-name' };
    expect(added('kith_operations_total', refused)).toBe(1);
    expect(added('kith_operation_duration_seconds_count', { operation, status: '400' })).toBe(1);
  });

  it('the metrics show the state of the limiter', () => {
    const isShared = engine === 'containers';
    expect(added('kith_limiter_refusals_total', { operation: 'collections.rename' })).toBe(1);
    expect(value('kith_limiter_store', { store: isShared ? 'redis' : 'memory' })).toEqual([1]);
    if (isShared) expect(value('kith_limiter_store', { store: 'memory' })).toEqual([0]);
    expect(Math.max(...value('kith_limiter_degraded'))).toBe(0);
    expect(added('kith_limiter_redis_errors_total')).toBe(0);
  });

  it('the metrics show how many events wait, how old they are, and how many are dead letters', async () => {
    const durable = 'notifications-feed';
    expect(Math.max(...value('kith_event_last_lag_seconds', { durable }))).toBeGreaterThan(0);
    await waitFor(async () => {
      const now = await scrape(platform.internalUrls);
      const [pending] = samplesOf(now, 'kith_events_pending', { durable });
      const [dead] = samplesOf(now, 'kith_dead_letters', { durable });
      const ages = samplesOf(now, 'kith_events_unpublished_age_seconds').map((sample) => sample.value);
      return pending?.value === 0 && dead?.value === 0 && Math.max(...ages) === 0;
    });
  });

  it('the metrics show the age of the gateway’s tables, the version, and the state of the process', () => {
    for (const table of ['revocations', 'project_settings', 'api_keys']) {
      const [age = Number.NaN] = value('kith_gateway_table_age_seconds', { table });
      expect(age, table).toBeGreaterThan(0);
      // The gateway reloads its tables every 30 s.
      expect(age, table).toBeLessThan(60);
    }
    expect(value('kith_gateway_table_entries', { table: 'revoked_sessions' })).toEqual([0]);
    expect(value('kith_bus_connected')).toEqual(platform.internalUrls.map(() => 1));
    expect(value('kith_ready')).toEqual(platform.internalUrls.map(() => 1));
    expect(value('kith_build_info', { node: process.version })).toEqual(platform.internalUrls.map(() => 1));
    expect(value('process_cpu_seconds_total')).toHaveLength(platform.internalUrls.length);
  });

  it('labels name no projects, no users, and no methods that a client has made up', () => {
    expect(scraped.text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/);
    expect(scraped.text).not.toContain('PROPFIND');
  });

  it('every metric and label that is named in the dashboard or the alerts exists', () => {
    expect(expressions.length).toBeGreaterThan(40);
    const declared = new Metrics({ process: true }).registry.getMetricsAsArray() as unknown as {
      name: string;
      labelNames: string[];
    }[];
    const labels = new Map(declared.map(({ name, labelNames }) => [name, labelNames]));
    for (const expression of expressions) {
      const named = namesIn(expression);
      expect(named.metrics.size, expression).toBeGreaterThan(0);
      const having = new Set(ownLabels);
      for (const metric of named.metrics) {
        const base = scraped.types.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, '');
        if (ownMetrics.includes(metric)) continue;
        expect(scraped.types.has(base), `${metric} in ${expression}`).toBe(true);
        if (base !== metric) expect(scraped.types.get(base), metric).toBe('histogram');
        for (const label of labels.get(base) ?? []) having.add(label);
      }
      for (const label of named.labels) expect(having.has(label), `${label} in ${expression}`).toBe(true);
    }
  });
});
