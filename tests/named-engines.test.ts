// Starts no platform and at most 100 processes.
import {
  dockerOrThrow,
  type EngineImages,
  owner,
  provideEngines,
  startNamedEngines,
  withoutUrls,
} from '@kith/engines';
import { uniquePrefix } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const isEmbedded = process.env.KITH_TEST_ENGINES === 'embedded';
const provided = isEmbedded ? undefined : await provideEngines({ env: withoutUrls(process.env) });

describe.runIf(provided?.kind === 'docker')('engines with names', () => {
  const { images } = (provided ?? {}) as { images: EngineImages };
  let name: string;
  let volumes: [string, string, string];
  beforeEach(() => {
    name = uniquePrefix();
    volumes = [`${name}-mongo-data`, `${name}-nats-data`, `${name}-redis-data`];
  });
  afterEach(() => dockerOrThrow(['volume', 'rm', '-f', ...volumes]));

  const installation = { id: 'own', folder: '/data/own', isOlder: false };
  const start = (of: Partial<typeof installation> = {}) =>
    startNamedEngines({ name, images, installation: { ...installation, ...of } });
  const label = (volume: string, key: string) =>
    dockerOrThrow(['volume', 'inspect', '-f', `{{index .Labels "org.kith.${key}"}}`, volume]);
  const containers = () =>
    dockerOrThrow(['ps', '-a', '--format', '{{.Names}}', '--filter', `name=^${name}-`]);

  it('a start does not touch a container that is not Kith’s, even if it has the same name', async () => {
    const container = `${name}-mongo`;
    await dockerOrThrow(['create', '--name', container, images.redis]);
    try {
      await expect(start()).rejects.toThrow(`The container ${container} is not one of Kith's`);
      expect(await containers()).toBe(container);
    } finally {
      await dockerOrThrow(['rm', '-f', container]);
    }
  });

  it('a start refuses volumes of another installation, and says whose volumes they are and how to remove them', async () => {
    const [mongo, nats] = volumes;
    const labels = ['--label', 'org.kith.installation=other', '--label', 'org.kith.folder=/data/other'];
    for (const volume of [mongo, nats]) await dockerOrThrow(['volume', 'create', ...labels, volume]);
    const removal = `docker volume rm ${mongo} ${nats}`;
    const refusal = (whose: string) =>
      `The volume ${mongo} belongs to ${whose}. Set KITH_DATA to the data folder of that installation, or KITH_PREFIX to another name for this one. If nobody needs that data any more, run: ${removal}`;
    await expect(start({ isOlder: true })).rejects.toThrow(refusal('the installation in /data/other'));
    await expect(start({ folder: '/data/other' })).rejects.toThrow(
      refusal('an earlier installation in /data/other, whose passwords are no longer there'),
    );
    expect(await containers()).toBe('');
    await dockerOrThrow(removal.split(' ').slice(1));
  });

  it('volumes of an earlier version are used only for the data folder on which that version has run', async () => {
    const [mongo, nats] = volumes;
    await dockerOrThrow(['volume', 'create', mongo]);
    await expect(start()).rejects.toThrow(
      `The volume ${mongo} belongs to another data folder, which an earlier version of Kith did not record.`,
    );
    // This container stands for a container of a killed process. Its label holds the id of this test's process, as if the
    // killed process had had the same id. So only the labels of the installation and the folder show whose container it is.
    const left = [`owner=${owner}`, 'installation=own', 'folder=/data/own'];
    const labels = left.flatMap((one) => ['--label', `org.kith.${one}`]);
    await dockerOrThrow(['run', '-d', '--name', `${name}-redis`, ...labels, images.redis, 'redis-server']);
    await expect(start({ folder: '/data/copy', isOlder: true })).rejects.toThrow('are in use by process');
    const engines = await start({ isOlder: true });
    await engines.stop();
    expect(await containers()).toBe('');
    expect(await label(nats, 'installation')).toBe('own');
    expect(await label(nats, 'folder')).toBe('/data/own');
    // Now all volumes have a label. So the message names all of them when another installation is started.
    await expect(start({ id: 'next' })).rejects.toThrow(`docker volume rm ${volumes.join(' ')}`);
  }, 120_000);
});
