// Writes those parts of Dockerfile, docker-compose.yml and Prometheus' targets that name every service. The manifests say what
// the parts contain. With `--check`, it writes nothing, and fails if the result would differ. Each part is between two
// comments, `# <part> …` and `# </part>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { secretNames, serviceNames, services } from '@kith/platform';
import { imageOf, lockOf } from './images/image.ts';
import { expressionOf } from './images/notices.ts';

const lines = (of: (name: string) => string, names: readonly string[] = serviceNames) =>
  names.map((name) => `${of(name)}\n`).join('');

const root = fileURLToPath(new URL('../', import.meta.url));
const lock = lockOf(root);

/**
 * The part of the Dockerfile that differs between images: the image's files, the code that Node has compiled from them, and the
 * labels.
 */
function contentOf(name: string, loaded: readonly string[]): string {
  const { packages } = imageOf(root, name, lock).lock;
  const labels = {
    title: `kith-${name}`,
    version: packages[`services/${name}`]?.version ?? packages['apps/kith']?.version,
    licenses: expressionOf({ packages }),
  };
  const lines = Object.entries(labels).map(([label, text]) => `org.opencontainers.image.${label}="${text}"`);
  const names = loaded.map((one) => `'${one}'`).join(', ');
  return `COPY --from=trees /trees/${name} .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of [${names}]) await import(name)"]
LABEL ${lines.join(' \\\n      ')}
`;
}

const targets = services.map(({ name, stores }) => {
  const loaded = [`@kith/${name}`, '@kith/bus/nats', ...(stores ? ['@kith/store/mongo'] : [])];
  return `FROM service AS ${name}\n${contentOf(name, loaded)}CMD ["services/${name}/src/main.ts"]\n`;
});
const setup = [
  './apps/kith/src/credentials/credentials.ts',
  './apps/kith/src/keeper/consumers.ts',
  '@kith/bus/nats',
  'mongodb',
];

const streaming = services.filter(({ streams }) => streams);
const streamingPort = 9091;

const withSecret = new Set<string>(secretNames);

/**
 * Settings that can hold an address outside of the installation, such as an S3 server or a mail server. The address of a
 * collector of traces is not in this list. Every process gets that address. So if the address could be outside, every process
 * would need a way out. Therefore the collector is a container on the network `bus` (docs/observability.md).
 */
const outward = ['STORAGE_URL', 'MAIL_URL', 'SMTP_URL'];
const reachesOut = new Set(
  services.filter(({ config }) => outward.some((name) => name in config.shape)).map(({ name }) => name),
);

/**
 * Settings from `.env` that only some services read. Only these services and `kith doctor` get these settings. `kith doctor`
 * checks them.
 */
const passed = [
  ...['SMTP_URL', 'MAIL_FROM', 'NOTIFICATION_DAYS'],
  ...['STORAGE_URL', 'STORAGE_PROJECT_MIB', 'STORAGE_USER_MIB'],
];

const secretFiles = [
  'KITH_SECRET_FILE: /etc/kith/self/secret',
  'KITH_SECRET_PREVIOUS_FILE: /etc/kith/self/previous-secret',
];

function environmentOf(name: string, config: object): string {
  const own = [
    ...(withSecret.has(name) ? secretFiles : []),
    ...('ERASURES_FILE' in config ? ['ERASURES_FILE: /erasures/erasures.jsonl'] : []),
    ...passed.filter((one) => one in config).map((one) => `${one}: '\${${one}:-}'`),
  ];
  return own.length > 0 ? `\n    environment: { <<: *environment, ${own.join(', ')} }` : '';
}

const entries = services.map(({ name, stores, streams, subscriptions, emits, config }) => {
  const needed = [`${subscriptions || emits ? 'keeper' : 'nats'}: { condition: service_healthy }`];
  if (stores) needed.push('database-users: { condition: service_completed_successfully }');
  const networks = ['bus', ...(stores ? ['databases'] : []), ...(streams ? ['files'] : [])];
  if (reachesOut.has(name)) networks.push('outside');
  const volumes = [
    `nats-${name}:/etc/kith/self:ro`,
    ...('ERASURES_FILE' in config.shape ? [`\${ERASURES:-erasures}:/erasures`] : []),
    ...(streams ? ['/tmp'] : []),
  ];
  return `  ${name}:
    <<: *service
    build: { context: ., target: ${name}, args: *args }
    image: \${IMAGE_PREFIX:-kith}-${name}:\${IMAGE_TAG:-latest}
    depends_on: { ${needed.join(', ')} }${environmentOf(name, config.shape)}
    networks: [${networks.join(', ')}]${streams ? '\n    # Uploads are stored in /tmp while they arrive. They may need more space than there is memory, so /tmp is a volume here.\n    tmpfs: []' : ''}
    volumes: [${volumes.map((one) => `'${one}'`).join(', ')}]
`;
});

const parts: Record<string, Record<string, string>> = {
  Dockerfile: {
    setup: contentOf('setup', setup),
    targets: targets.join('\n'),
    gateway: contentOf('gateway', ['@kith/gateway', '@kith/bus/nats', 'ioredis']),
  },
  'docker-compose.yml': {
    seeds: lines((name) => `      - nats-${name}:/etc/kith/${name}`),
    services: entries.join('\n'),
    upstreams: `      UPSTREAMS: ${streaming.map(({ name }) => `${name}=http://${name}:${streamingPort}`).join(',')}\n`,
    settings: lines((name) => `      ${name}: \${${name}:-}`, passed),
    volumes: lines((name) => `  nats-${name}: {}`),
  },
  'deploy/prometheus/prometheus.yml': { targets: lines((name) => `          - ${name}`) },
};

for (const [path, texts] of Object.entries(parts)) {
  const file = new URL(`../${path}`, import.meta.url);
  const before = readFileSync(file, 'utf8');
  let after = before;
  for (const [part, text] of Object.entries(texts)) {
    const place = new RegExp(`(# <${part}>[^\\n]*\\n)[^]*?( *# </${part}>)`);
    if (!place.test(after)) throw new Error(`${path} has no part <${part}>.`);
    after = after.replace(place, (_, start: string, end: string) => start + text + end);
  }
  if (!process.argv.includes('--check')) writeFileSync(file, after);
  else if (after !== before) {
    console.error(`${path}: its services differ from the manifests; run tools/deployment.ts`);
    process.exitCode = 1;
  }
}
