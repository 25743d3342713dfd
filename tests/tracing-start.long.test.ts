// Quick counterpart: tests/tracing.test.ts
// Starts no platform and at most 8 processes.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCollector } from './support/collector.ts';
import { http } from './support/http.ts';
import { startTracedPlatform } from './support/traced-platform.ts';

const recorder = fileURLToPath(new URL('support/record-modules.mjs', import.meta.url));
const path = '/.well-known/jwks.json';

describe('starting and ending tracing', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-modules-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const modulesOf = async (name: string, env: NodeJS.ProcessEnv) => {
    const file = join(folder, name);
    await using platform = await startTracedPlatform('embedded', {
      NODE_OPTIONS: `--import ${recorder}`,
      KITH_TEST_MODULES: file,
      ...env,
    });
    expect((await http(platform.url, { path })).status).toBe(200);
    return (await readFile(file, 'utf8')).split('\n');
  };
  // OpenTelemetry's API package is ignored. It has only types and functions that do nothing, and the library for metrics loads
  // it, too.
  const ofSdk = (modules: string[]) => modules.filter((url) => /\/@opentelemetry\/(?!api\/)/.test(url));

  it.each([
    ['without variables', {}],
    [
      'with OTEL_SDK_DISABLED',
      { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
    ],
    ['with no exporter', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }],
  ])('%s no module of the SDK is loaded', async (name, env) => {
    const modules = await modulesOf(name.replaceAll(' ', '-'), env);
    expect(modules.some((url) => url.includes('/express/'))).toBe(true);
    expect(ofSdk(modules)).toEqual([]);
  });

  it('with an address, modules of the SDK are loaded', async () => {
    await using collector = await startCollector();
    const modules = await modulesOf('on', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(ofSdk(modules).some((url) => url.includes('/sdk-trace/'))).toBe(true);
  });

  it('a platform sends its last spans when it ends', async () => {
    await using collector = await startCollector();
    const platform = await startTracedPlatform('embedded', {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '3600000',
      OTEL_SERVICE_NAME: 'ours',
    });
    expect((await http(platform.url, { path })).status).toBe(200);
    expect(collector.spans()).toEqual([]);
    expect(await platform.stop()).toBe(0);
    const spans = collector.spans();
    expect(spans.map(({ name }) => name)).toContain('GET /.well-known/jwks.json');
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['ours']));
  });

  it('a platform ends in an orderly way if the collector accepts spans but never answers', async () => {
    await using collector = await startCollector({ hangs: true });
    const platform = await startTracedPlatform('embedded', {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      // These timeouts are longer than this test may take. So the test fails if the platform waits for one of them.
      OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
      OTEL_BSP_EXPORT_TIMEOUT: '3600000',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
    await http(platform.url, { path });
    await waitFor(() => collector.spans().length > 0);
    await http(platform.url, { path });
    expect(await platform.stop()).toBe(0);
  });

  it('a platform warns once and goes on while the collector is not available', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await using platform = await startTracedPlatform('embedded', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    });
    const warnings = async () => (await platform.logs()).filter(({ msg }) => msg === 'cannot export traces');
    await waitFor(async () => {
      expect((await http(platform.url, { path })).status).toBe(200);
      return (await warnings()).length > 0;
    });
    for (let count = 0; count < 20; count++) expect((await http(platform.url, { path })).status).toBe(200);
    expect(await warnings()).toMatchObject([{ level: 'warn' }]);
  });
});
