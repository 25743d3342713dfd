// Quick counterpart: tests/outages.test.ts
// Starts no platform and at most 150 processes.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dockerOrThrow } from '@kith/engines';
import { caller, type StartFile, secretNames, serviceNames, storingNames } from '@kith/platform';
import { availableEngines, createPeople, createUploads } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from './support/command.ts';
import { type ComposeProject, startComposeProject } from './support/compose-project.ts';
import { readBlocks } from './support/guide.ts';
import { http } from './support/http.ts';
import { movedSecret, operatorToken, startInFolder } from './support/moved-installation.ts';
import { startShell } from './support/shell.ts';
import { curlLines } from './support/start-script.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * The compose file of the guide of observability. It adds a collector. In this test, the collector is a script in an existing
 * image. The script prints the names of the services whose spans arrive.
 */
async function withCollector(): Promise<string> {
  const added = (await readBlocks('observability.md')).find(({ text }) => text.includes('  collector:\n'));
  const script = `require('node:http').createServer(async (request, response) => {
    const chunks = await request.toArray();
    const names = Buffer.concat(chunks).toString('latin1').match(/kith-[a-z]+/g) ?? [];
    for (const name of new Set(names)) console.log('spans of ' + name);
    response.end();
  }).listen(4318)`;
  const image = `image: '\${IMAGE_PREFIX:-kith}-setup:\${IMAGE_TAG:-latest}'`;
  return (added?.text ?? '')
    .replace(/^( {4})image: .*$/m, `$1${image}`)
    .replace(/^( {4})volumes: .*$/m, `$1entrypoint: ${JSON.stringify(['node', '-e', script])}`);
}

describe.runIf(availableEngines().includes('containers'))('docker-compose', () => {
  let project: ComposeProject;
  let audience: string;
  beforeAll(async () => {
    // The settings that the guides write to `.env`.
    const guides = await Promise.all(['hosting.md', 'observability.md'].map(readBlocks));
    const settings = guides.flat().filter(({ language }) => language === 'ini');
    const lines = settings.flatMap(({ text }) => text.split('\n'));
    const linesOf = (names: RegExp) => lines.filter((line) => names.test(line));
    const variables = (folder: string) => [
      ...linesOf(/^(BACKUPS|ERASURES)=/).map((line) => line.replace('=', `=${folder}`)),
      ...linesOf(/^(TOKEN_AUDIENCE|TRUST_PROXY_HOPS)=/),
      ...linesOf(/^OTEL_EXPORTER_OTLP_ENDPOINT=http:/),
    ];
    audience = linesOf(/^TOKEN_AUDIENCE=/)[0]?.replace(/^\w+=/, '') ?? '';
    project = await startComposeProject(await withCollector(), { variables });
  }, 600_000);
  afterAll(() => project?.[Symbol.asyncDispose](), 120_000);

  it('serves the request of `kith demo`', async () => {
    const token = (
      await project.call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token')
    ).trim();
    const { stdout } = await run(process.execPath, [main, 'demo'], {
      cwd: root,
      env: {
        ...process.env,
        KITH_URL: project.url,
        OPERATOR_TOKEN: token,
        KITH_DATA: join(project.folder, 'data'),
      },
    });
    const [line = ''] = curlLines(stdout);
    const listed = JSON.parse((await run('bash', ['-c', line])).stdout);
    const start: StartFile = JSON.parse(await readFile(join(project.folder, 'data', 'start.json'), 'utf8'));
    expect(listed.connections).toMatchObject([{ connectedUser: { id: start.users[1]?.id } }]);
  }, 120_000);

  it('serves the OpenAPI document and the reference page', async () => {
    const document = await http(project.url, { path: '/openapi.json' });
    expect(document.json()).toMatchObject({ openapi: '3.1.0' });
    for (const path of ['/docs', '/docs/errors', '/docs/swagger-ui.js']) {
      expect((await http(project.url, { path })).status).toBe(200);
    }
  });

  it('serves metrics at every target of Prometheus', async () => {
    const config = await readFile(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8');
    const targets = [...config.matchAll(/^ {10}- ([a-z]+)$/gm)].map(([, target = '']) => target);
    expect(targets).toEqual(expect.arrayContaining(['gateway', ...serviceNames]));
    for (const metrics of await Promise.all(targets.map(project.metricsOf)))
      expect(metrics).toContain('nodejs_version_info');
  }, 60_000);

  it('gives every service only the credentials and the rights that it needs', async () => {
    const services = ['gateway', ...serviceNames];
    const stored = new Set<string>(storingNames);
    const sealing = new Set<string>(['gateway', ...secretNames]);
    const filesOf = (service: string) => [
      ...['ca.pem', ...(stored.has(service) ? ['mongodb-url'] : []), 'nats-url', 'nkey'],
      ...(service === 'gateway' ? ['operator-token'] : []),
      ...(service === 'gateway' || stored.has(service) ? ['password'] : []),
      ...(service === 'gateway' ? ['redis-url'] : []),
      ...(sealing.has(service) ? ['previous-secret', 'secret'] : []),
    ];
    const inside = (service: string) =>
      project.call('exec', '-T', service, 'sh', '-c', 'id -u && find /etc/kith -type f');
    const answers = await Promise.all(services.map(inside));
    for (const [i, answer] of answers.entries()) {
      const [user, ...files] = answer.trim().split('\n');
      expect(user).toBe('1000');
      const expected = filesOf(services[i] ?? '').map((file) => `/etc/kith/self/${file}`);
      expect(files.sort()).toEqual(expected.sort());
    }
    for (const id of (await project.call('ps', '-q')).split('\n').filter(Boolean)) {
      const format =
        '{{.Name}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{gt .HostConfig.Memory 0}}';
      expect(await dockerOrThrow(['inspect', '-f', format, id])).toMatch(
        / true \[ALL\] \[no-new-privileges:true\] true$/,
      );
    }
    // The crypto service cannot reach the gateway's Redis or the databases, because they are on other networks. The gateway
    // cannot reach the databases, either.
    const resolves =
      "require('dns').lookup(process.argv[1], (error) => console.log(error ? 'unknown' : 'known'))";
    const knows = async (service: string, host: string) =>
      (await project.call('exec', '-T', service, 'node', '-e', resolves, host)).trim();
    expect(await Promise.all(['nats', 'mongo', 'redis'].map((host) => knows('crypto', host)))).toEqual([
      ...['known', 'unknown', 'unknown'],
    ]);
    expect(await knows('gateway', 'mongo')).toBe('unknown');
  }, 180_000);

  it('has only the needed packages in each image; the bill of materials and the licences are where the image’s labels say', async () => {
    const ids = (await project.call('ps', '-q', 'gateway', ...serviceNames)).split('\n').filter(Boolean);
    const inspected = await dockerOrThrow(['inspect', '-f', '{{json .Config.Labels}}', ...ids]);
    const labelled = inspected.split('\n').map((line): Record<string, string> => JSON.parse(line));
    const inside = labelled.map(async (labels) => {
      const { 'dev.kith.sbom': sbom = '', 'dev.kith.licences': licences = '' } = labels;
      const service = labels['com.docker.compose.service'] ?? '';
      const script =
        'ls services && echo -- && ls node_modules && echo -- && cat "$1" && echo -- && cat "$2"';
      const said = await project.call('exec', '-T', service, 'sh', '-c', script, 'sh', sbom, licences);
      return { service, labels, said: said.split('\n--\n') };
    });
    const others = { sharp: 'storage', nodemailer: 'identity', otpauth: 'identity', express: 'gateway' };
    for (const { service, labels, said } of await Promise.all(inside)) {
      const [sources, modules = '', bill = '', licences = ''] = said;
      expect(sources).toBe(service);
      const has = (name: string) => modules.split('\n').includes(name);
      expect(Object.keys(others).filter(has)).toEqual(
        Object.keys(others).filter((name) => others[name as keyof typeof others] === service),
      );
      expect(JSON.parse(bill).metadata.component).toMatchObject({ name: `kith-${service}` });
      expect(licences).toMatch(/^zod \S+: MIT$/m);
      expect(labels).toMatchObject({
        'org.opencontainers.image.title': `kith-${service}`,
        'org.opencontainers.image.base.name': project.images.node,
        'org.opencontainers.image.licenses': expect.stringMatching(/\bApache-2\.0 AND .*\bMIT\b/),
      });
    }
    expect(labelled.length).toBe(serviceNames.length + 1);
  }, 60_000);

  it('sends the spans of every process to the collector of the guide of observability', async () => {
    const token = (
      await project.call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token')
    ).trim();
    const people = createPeople(caller(project.url), token);
    const { id: projectId } = await people.createProject();
    const [user, friend] = [await people.createUser(projectId), await people.createUser(projectId)];
    await people.connect(user, friend);
    await people.createCollection(user, 'Traced');
    await createUploads(project.url).uploadFile(user, 'some bytes');
    // In production no request reaches crypto, so crypto makes no spans. Instead, a request from crypto's container shows that
    // crypto can reach the collector.
    const send = "fetch('http://collector:4318', { method: 'POST', body: 'kith-crypto' })";
    await project.call('exec', '-T', 'crypto', 'node', '-e', send);
    const told = async () => {
      const log = await project.call('logs', '--no-color', 'collector');
      return [...new Set([...log.matchAll(/\| spans of kith-([a-z]+)$/gm)].map(([, name]) => name))].sort();
    };
    await expect.poll(told, { interval: 1000, timeout: 60_000 }).toEqual(['gateway', ...serviceNames].sort());
  }, 120_000);

  it('keeps running while a single service is stopped and started again', async () => {
    const list = () => http(project.url, { path: '/v7/00000000-0000-0000-0000-000000000000/users/x' });
    expect((await list()).status).toBe(404);
    await project.call('stop', 'identity');
    expect((await list()).json()).toMatchObject({ code: 'gateway/unavailable' });
    await project.call('up', '-d', '--no-build', '--no-deps', '--scale', 'identity=2', 'identity');
    // Asks only once a second. On a slow machine, the service starts slowly, and more frequent requests could use up the limit
    // of this address before the service has started.
    await expect.poll(async () => (await list()).status, { interval: 1000, timeout: 30_000 }).toBe(404);
  }, 90_000);

  it('the `kith doctor` command of the guide of hosting reads .env, finds nothing wrong at first, and reports an engine that is stopped later', async () => {
    const blocks = await readBlocks('hosting.md');
    const lines = blocks.flatMap(({ text }) => text.split('\n'));
    const line = lines.find((one) => /^docker-compose .* kith doctor$/.test(one)) ?? '';
    const [program = '', ...words] = [...project.command, ...line.split(' ').slice(1), '--json'];
    const examine = async (changes: NodeJS.ProcessEnv = {}) => {
      const env = { ...process.env, ...changes };
      // `kith doctor` exits with 1 if it finds something wrong. Then `run` rejects with an error that has the same fields as a
      // result.
      const { stdout } = await run(program, words, { cwd: root, env }).catch((error) => error);
      const {
        isWell,
        findings,
      }: { isWell: boolean; findings: Record<'check' | 'state' | 'says', string>[] } = JSON.parse(stdout);
      const of = (check: string) =>
        findings.filter((one) => one.check === check).map(({ state, says }) => `${state} ${says}`);
      return { isWell, of, wrong: findings.filter(({ state }) => state === 'wrong') };
    };
    const { isWell, of, wrong } = await examine();
    expect(wrong).toEqual([]);
    expect(isWell).toBe(true);
    for (const engine of ['MongoDB', 'NATS', 'Redis'])
      expect(of(engine)).toEqual([expect.stringMatching(`^ok ${engine} \\d.*\\.$`)]);
    for (const name of storingNames)
      expect(of(`database ${name}`)).toEqual(['ok It is undamaged and has all its indexes.']);
    // Both warnings are about settings that the compose file itself makes. The images, the secret, and the settings that the
    // guide writes to `.env` cause no warning.
    expect(of('settings')).toEqual([
      expect.stringContaining('warning API_REFERENCE is all'),
      expect.stringContaining('warning PUBLIC_URL is not set'),
    ]);
    const wrongValues = { TRUST_PROXY_HOPS: 'one', RATE_LIMITS: 'none', NOTIFICATION_DAYS: 'ninety' };
    const plain = await examine({ PUBLIC_URL: 'http://api.example.org', ...wrongValues });
    expect(plain.of('settings')).toEqual(
      expect.arrayContaining([
        expect.stringContaining('wrong PUBLIC_URL is http://api.example.org'),
        ...Object.keys(wrongValues).map((name) => expect.stringContaining(`wrong ${name}: `)),
      ]),
    );
    await project.call('stop', 'redis');
    const without = await examine();
    expect([without.isWell, without.wrong]).toMatchObject([false, [{ check: 'Redis' }]]);
    await project.call('start', 'redis');
    await expect.poll(async () => (await examine()).isWell, { interval: 1000, timeout: 60_000 }).toBe(true);
  }, 180_000);

  /** Starts a shell in the project's folder. In this shell, `docker-compose` and `npx kith` work on this project. */
  const startGuide = async (settings: NodeJS.ProcessEnv = {}) => {
    const { folder } = project;
    for (const name of ['bin', 'etc/kith', 'var/backups/kith', 'var/lib'])
      await mkdir(join(folder, name), { recursive: true });
    const passphrase = join(folder, 'etc/kith/backup-passphrase');
    await writeFile(passphrase, 'a passphrase of this suite\n');
    const words = project.command.map((word) => `'${word}'`).join(' ');
    const programs = {
      // `words` may name the program `docker-compose` without its path. So this script uses the PATH of the test. With the PATH
      // of the shell, the script would find and call itself.
      'docker-compose': `PATH='${process.env.PATH}'\nexec ${words} "$@"`,
      npx: `shift\nexec '${process.execPath}' '${main}' "$@"`,
    };
    for (const [name, script] of Object.entries(programs))
      await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, DOCKER_BUILDKIT: '0' };
    // The commands of the guides must not use the engines of the test suites.
    const none = { MONGODB_URL: '', NATS_URL: '', REDIS_URL: '' };
    const shell = startShell({ folder, env: { ...env, ...none, ...settings } });
    return {
      /**
       * In a guide, finds the first block of commands that contains the text `part`. Runs this block line by line, and returns
       * the output.
       */
      async follow(guide: string, part: string) {
        const { text } = (await readBlocks(guide)).find((block) => block.text.includes(part))!;
        const here = text
          .replaceAll(/(\/etc\/kith\/)?backup-passphrase/g, passphrase)
          .replaceAll('/var/', `${folder}/var/`);
        let printed = '';
        for (const line of here.trim().split('\n')) {
          const { output, code } = await shell.run(line);
          expect([code, output], line).toEqual([0, expect.any(String)]);
          printed += output;
        }
        return printed;
      },
      [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
    };
  };
  const inside = async (service: string, file: string) =>
    (await project.call('exec', '-T', service, 'cat', `/etc/kith/self/${file}`)).trim();

  it('can be backed up, given another secret, and restored after the loss of all data, as the guides describe', async () => {
    await using guide = await startGuide();
    const { follow } = guide;

    const call = caller(project.url);
    const people = createPeople(call, await inside('gateway', 'operator-token'));
    const { id: projectId } = await people.createProject();
    const [user, leaver] = [await people.createUser(projectId), await people.createUser(projectId)];
    const uploads = createUploads(project.url);
    const file = await uploads.uploadFile(user, 'some bytes');
    const path = `/v7/${projectId}/storage/files/${file.fileId}`;
    const stored = () =>
      http(project.url, { path }).then(
        ({ text }) => text,
        () => undefined,
      );
    expect(await stored()).toBe('some bytes');
    await follow('backup.md', 'kith backup /backups');
    // This user's account is deleted after the backup.
    await call('DELETE', `/v7/${projectId}/users/${leaver.id}`, { token: leaver.accessToken });

    const first = await inside('gateway', 'secret');
    expect(await follow('secrets.md', 'rotate-secret.ts')).toMatch(/^identity +2 +[0-2] +0$/m);
    for (const service of ['gateway', ...secretNames]) {
      const [secret, before] = [await inside(service, 'secret'), await inside(service, 'previous-secret')];
      expect([secret === first, secret === (await inside('gateway', 'secret')), before]).toEqual([
        false,
        true,
        '',
      ]);
    }
    const isIn = () =>
      call('GET', `/v7/${projectId}/auth/sessions`, { token: user.accessToken }).then(
        () => true,
        () => false,
      );
    // The containers are started, but may not answer requests yet. Asks only once a second, because more frequent requests
    // could use up the limit of this address.
    const untilServed = async () => {
      await expect.poll(isIn, { interval: 1000, timeout: 120_000 }).toBe(true);
      await expect.poll(stored, { interval: 1000, timeout: 60_000 }).toBe('some bytes');
    };
    await untilServed();
    // The gateway signs the request of the upload. Storage must accept this signature, although the secret has changed.
    await uploads.uploadFile(user, 'more bytes');

    await project.call('down', '-v');
    await follow('backup.md', 'kith restore /backups');
    await untilServed();
    const signIn = ({ email, password }: typeof user) =>
      call<{ user: { id: string } }>('POST', `/v7/${projectId}/auth/sign-in`, { body: { email, password } });
    expect(await signIn(user)).toMatchObject({ user: { id: user.id } });
    await expect(signIn(leaver)).rejects.toMatchObject({ status: 401 });
  }, 900_000);

  it('can take over an embedded installation, as the guide of moving describes', async () => {
    const { folder } = project;
    const embedded = async () => {
      await using platform = await startInFolder(join(folder, '.kith'), 'kith', { TOKEN_AUDIENCE: audience });
      const people = createPeople(caller(platform.url), operatorToken);
      const user = await people.createUser((await people.createProject()).id);
      return { user, file: await createUploads(platform.url).uploadFile(user, 'moved bytes') };
    };
    const { user, file } = await embedded();
    await writeFile(join(folder, 'secret'), movedSecret, { mode: 0o600 });
    await project.call('down', '-v');
    await using guide = await startGuide({ TOKEN_AUDIENCE: audience });
    await guide.follow('move.md', 'npx kith backup');
    expect(await guide.follow('move.md', 'kith restore')).toMatch(/^ok +Redis: Redis /m);
    expect(await inside('gateway', 'secret')).not.toBe(movedSecret);
    // The user's token is older than the move. It is accepted only if the services can still open the old signing keys.
    const [scope, token] = [`/v7/${user.projectId}`, user.accessToken];
    const get = (path: string) =>
      http(project.url, { path: `${scope}${path}`, token }).catch(() => undefined);
    await expect
      .poll(async () => (await get('/auth/sessions'))?.status, { interval: 1000, timeout: 120_000 })
      .toBe(200);
    await expect
      .poll(async () => (await get(`/storage/files/${file.fileId}`))?.text, {
        interval: 1000,
        timeout: 60_000,
      })
      .toBe('moved bytes');
  }, 600_000);
});
