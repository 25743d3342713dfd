// Starts at most 0 platforms and 20 processes.
import { dockerOrThrow, provideEngines, startNamedEngines } from '@kith/engines';
import { uniquePrefix } from '@kith/testing';
import { expect, test } from 'vitest';

const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
const provided = process.env.KITH_TEST_ENGINES === 'embedded' ? undefined : await provideEngines({ env });

test.runIf(provided?.kind === 'docker')(
  'a container that is not one of Kith’s stays, whatever its name is',
  async () => {
    if (provided?.kind !== 'docker') throw new Error('There is no Docker.');
    const name = uniquePrefix();
    const container = `${name}-mongo`;
    await dockerOrThrow(['create', '--name', container, provided.images.redis]);
    try {
      const starting = startNamedEngines({ name, images: provided.images });
      await expect(starting).rejects.toThrow(`The container ${container} is not one of Kith's`);
      expect(await dockerOrThrow(['inspect', '-f', '{{.Name}}', container])).toBe(`/${container}`);
    } finally {
      await dockerOrThrow(['rm', '-f', container]);
    }
  },
);
