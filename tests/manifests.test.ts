// Starts at most 1 platform and no process.
import { readFileSync } from 'node:fs';
import type { Bus } from '@kith/bus';
import { gatewayConfig } from '@kith/gateway';
import { services } from '@kith/platform';
import { startPlatform } from '@kith/testing';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.restoreAllMocks());

// This test is about the embedded form. On NATS, each service signs in as a user of its own, and the rights of this user limit the
// service in the same way (tests/credentials.long.test.ts).
it('in the embedded form, a service may do only what its manifest allows', async () => {
  const starts = services.map((manifest) => vi.spyOn(manifest, 'start'));
  await using _platform = await startPlatform({ engine: 'embedded' });
  const buses = starts.map((start) => start.mock.lastCall?.[0].bus as Bus);
  expect(buses).toHaveLength(services.length);
  for (const [at, bus] of buses.entries()) {
    const consume = () => bus.consume({ durable: 'chaos-watch', subjects: [] }, async () => {});
    expect(consume).toThrow(`${services[at]?.name} may not consume events as chaos-watch.`);
  }
});

it('docker-compose passes the settings that the guide writes to `.env` on to every process that reads them, and to `kith doctor`', () => {
  const text = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const [, guide = ''] =
    /^## Compose in production$(.*?)and the other variables/ms.exec(text('docs/hosting.md')) ?? [];
  const compose = text('docker-compose.yml');
  const [, common = '', ofGateway = ''] = compose.split(/^(?:x-service|x-gateway-settings|services):.*$/m);
  const passedTo = (process: string) => {
    const [, entry = ''] = new RegExp(`^ {2}${process}:\n(.*?)\n\n`, 'ms').exec(compose) ?? [];
    const texts = common + entry + (entry.includes('*gateway-settings') ? ofGateway : '');
    return [...texts.matchAll(/(\w+): '?\$\{\1:-\}/g)].map(([, name]) => name);
  };
  const processes = [...services, { name: 'gateway', config: gatewayConfig }];
  const named = [...guide.matchAll(/`([A-Z_]+)`|^([A-Z_]+)=/gm)].map(([, one, other]) => one ?? other ?? '');
  for (const setting of named.filter((one) => processes.some(({ config }) => one in config.shape))) {
    const readers = processes.filter(({ config }) => setting in config.shape).map(({ name }) => name);
    for (const process of [...readers, 'kith'])
      expect(passedTo(process), `${setting} of ${process}`).toContain(setting);
  }
  expect(named).toContain('RATE_LIMITS');
});
