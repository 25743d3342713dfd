import { readdirSync } from 'node:fs';

/**
 * A room is a folder of sources. Its entry in this table lists the packages of ours that the folder may import. The packages
 * are named as in an `import` statement, for example `@kith/store/open`. For third-party packages, see `drivers` below.
 */
export interface Room {
  /** Packages of ours that the folder may import. An entry that ends with `*` matches any name with the same beginning. */
  may: readonly string[];
  /** Packages that the folder's tests may import in addition to `may` and to the list `suites` below. */
  suites?: readonly string[];
  /** Files and folders outside of this folder that the folder may import by their paths. */
  reaches?: readonly string[];
  /** A sentence that says what to import instead. */
  instead: string;
}

const base = ['@kith/base', '@kith/base/config'];
const kit = [...base, '@kith/contracts', '@kith/bus', '@kith/service', '@kith/service/config'];
const storing = [...kit, '@kith/store', '@kith/store/open', '@kith/store/backup', '@kith/store/blobs'];
const embedding = ['@kith/bus/in-process', '@kith/store/sqlite'];
const distributing = ['@kith/bus/nats', '@kith/store/mongo'];
const services = readdirSync(new URL('../../services', import.meta.url));
const each = <Row>(row: Row) => Object.fromEntries(services.map((name) => [`services/${name}`, row]));

const service: Room = {
  may: storing,
  instead:
    'A service may import only contracts, the store and the runtime. It asks other services over the bus (`ask`), or subscribes to their events (`subscription`).',
};

/**
 * Packages that the tests of every package may import in addition to the package's own entry: packages that tests start, and
 * packages that tests look into.
 */
export const suites = [
  ...[...storing, ...embedding, ...distributing, '@kith/store/testing'],
  ...['@kith/testing', '@kith/testing/call-operation', '@kith/testing/die-before-write'],
  ...['@kith/testing/parts', '@kith/testing/small-png', '@kith/engines'],
];

/** The folder that tests of packages share with tests of the whole platform. */
export const shared = 'tests/support/';

/** What each package may import. */
export const packages: Readonly<Record<string, Room>> = {
  'libs/contracts': {
    may: [],
    instead: 'Contracts import no other package of ours. Move shared code into contracts.',
  },
  'libs/openapi': {
    may: ['@kith/contracts'],
    instead: 'The OpenAPI document is made only from contracts. Put what the document needs into contracts.',
  },
  'libs/client': {
    may: [],
    instead:
      'The client imports no other package of ours. tools/client.ts generates the parts of the client that depend on contracts.',
  },
  'libs/base': {
    may: ['@kith/contracts'],
    instead:
      'All packages may import base, so base imports only contracts. Pass what base needs as a parameter, or move the code from base into the package that the code imports.',
  },
  'libs/store': {
    may: [...base, '@kith/contracts'],
    instead:
      'The store imports neither the bus nor the runtime. Declare in the store what the store needs of the bus or the runtime, as with `Progress` and `Span`.',
  },
  'libs/bus': {
    may: [...base, '@kith/store', '@kith/store/sqlite'],
    instead:
      'The bus carries bytes. It imports base, the declarations of the store, and the store’s code for SQLite. Code that reads messages belongs in libs/service.',
  },
  'libs/service': {
    may: [...base, '@kith/contracts', '@kith/store', '@kith/bus', '@kith/bus/nats'],
    instead:
      'The runtime imports no service and no driver of a store. Pass what a service needs as a parameter, or move the code into the service.',
  },
  ...each(service),
  'services/crypto': {
    may: kit,
    instead:
      'Crypto stores nothing and asks no other service. It imports contracts and the runtime, but not the store.',
  },
  'services/gateway': {
    may: [...kit, '@kith/openapi'],
    suites: ['@kith/notifications', '@kith/notifications/testing', '@kith/storage', '@kith/storage/testing'],
    instead:
      'The gateway sends bytes to services over the bus. It imports contracts, the document and the runtime.',
  },
  'services/connections': { ...service, suites: ['@kith/identity'] },
  'services/collections': { ...service, suites: ['@kith/identity'] },
  'services/notifications': { ...service, suites: ['@kith/identity'] },
  'services/storage': { ...service, suites: ['@kith/identity'] },
  'tools/engines': {
    may: base,
    instead: 'This package installs engines and does not know what uses them. It imports only base.',
  },
  'apps/kith': {
    may: [
      ...[...storing, ...embedding, ...distributing, '@kith/engines'],
      ...services.map((name) => `@kith/${name}`),
    ],
    instead:
      'The application composes services and does not import the test kit. Move what the application needs from the test kit into the application.',
  },
  'apps/testing': {
    may: [...storing, ...embedding, ...distributing, '@kith/platform', '@kith/engines', '@kith/client'],
    instead:
      'The test kit starts platforms. It imports the platform, engines and the client, but no single service.',
  },
};

/** Folders that are not part of the product, but measure, test or build it. */
export const around: Readonly<Record<string, Room>> = {
  bench: {
    may: ['@kith/*'],
    instead: 'Export what is measured from the entry `testing` of its package.',
  },
  tests: {
    may: ['@kith/*'],
    reaches: [
      'tools/packages/',
      'tools/walls/',
      'tools/bootstrap/',
      'tools/images/',
      'tools/test/',
      'examples/people/kith-settings.ts',
      'package.json',
    ],
    instead:
      'Move a suite that needs the inside of a package into this package, or export what the suite needs from the entry `testing` of the package.',
  },
  faults: {
    may: ['@kith/*'],
    reaches: [shared],
    instead: 'Export what is needed from the entry `testing` of its package.',
  },
  tools: {
    may: ['@kith/*'],
    reaches: [shared, 'examples/people/kith-settings.ts'],
    instead: 'Export from the package what the tool needs.',
  },
};

const parts = { store: [''], operations: ['', 'store'], '': ['store', 'operations'] };

/**
 * For each package: the folders of its `src`, each with the other folders that this folder may import. '' stands for the files
 * beside the folders. If '' and a folder may import each other, '' holds both the package's entry and the code that the whole
 * package uses. In a package that is not listed, any folder may import any other folder. In a listed package, every folder has
 * to be listed.
 */
export const folders: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'libs/base': {
    config: [''],
    secrets: [],
    telemetry: ['', 'config'],
    '': ['config', 'secrets', 'telemetry'],
  },
  'libs/store': {
    drivers: [],
    blobs: ['drivers'],
    outbox: ['drivers'],
    settle: ['drivers', 'outbox'],
    documents: ['drivers', 'outbox', 'settle'],
    backup: ['drivers', 'blobs', 'outbox', 'documents'],
    '': ['drivers', 'blobs', 'outbox', 'documents', 'backup'],
  },
  'libs/service': {
    background: [],
    operations: ['events'],
    config: ['operations'],
    http: ['operations'],
    events: ['background'],
    profiles: ['background', 'operations', 'events'],
    manifest: ['background', 'operations', 'config', 'http', 'events'],
    lifecycle: ['background', 'operations', 'config', 'http', 'events', 'manifest'],
    '': ['background', 'operations', 'config', 'http', 'events', 'profiles', 'manifest', 'lifecycle'],
  },
  'apps/kith': {
    forms: [''],
    credentials: [''],
    keeper: [''],
    demo: ['forms'],
    cli: ['', 'forms', 'credentials', 'keeper', 'demo'],
    '': ['forms', 'credentials', 'keeper', 'demo', 'cli'],
  },
  ...each(parts),
  'services/crypto': { operations: [''], '': ['operations'] },
  'services/identity': {
    store: [''],
    tokens: ['', 'store'],
    factors: ['', 'store'],
    mails: ['', 'store'],
    operations: ['', 'store', 'tokens', 'factors', 'mails'],
    '': ['store', 'tokens', 'factors', 'mails', 'operations'],
  },
  'services/storage': {
    store: [''],
    images: [''],
    uploads: ['', 'images'],
    downloads: [''],
    operations: ['', 'store', 'uploads', 'downloads'],
    '': ['store', 'images', 'operations'],
  },
  'services/notifications': {
    ...parts,
    events: ['', 'store'],
    '': ['store', 'operations', 'events'],
  },
  'services/gateway': {
    routes: [],
    tables: [],
    http: ['routes', 'tables'],
    forward: ['routes'],
    auth: ['routes', 'forward', 'tables'],
    limits: ['tables'],
    streams: ['http', 'forward'],
    exports: ['http', 'forward'],
    upstreams: ['http'],
    reference: ['http', 'routes'],
    '': [
      'routes',
      'tables',
      'http',
      'forward',
      'auth',
      'limits',
      'streams',
      'exports',
      'upstreams',
      'reference',
    ],
  },
};

/**
 * Third-party packages that only the listed rooms may import. `name` is the name of a package, or a scope such as `@aws-sdk/`,
 * which stands for all packages of this scope.
 */
export const drivers: readonly { name: string; only: readonly string[]; instead: string }[] = [
  {
    name: 'mongodb',
    only: ['libs/store', 'apps/kith', 'apps/testing'],
    instead: 'Services store through `Documents` (docs/adr/0037).',
  },
  {
    name: 'node:sqlite',
    only: ['libs/store', 'libs/bus', 'tools/engines', 'apps/kith', 'apps/testing'],
    instead: 'Services store through `Documents` (docs/adr/0037).',
  },
  {
    name: '@nats-io/',
    only: ['libs/bus', 'apps/kith', 'apps/testing'],
    instead: 'Services communicate through `Bus`.',
  },
  { name: 'ioredis', only: ['services/gateway'], instead: 'Only the gateway counts limits.' },
  { name: '@aws-sdk/', only: ['libs/store'], instead: 'Bytes are stored through `Blobs` (docs/adr/0045).' },
  { name: 'sharp', only: ['services/storage'], instead: 'Only storage reads images.' },
  {
    name: 'http-proxy-middleware',
    only: ['services/gateway', 'bench'],
    instead: 'Only the gateway proxies.',
  },
  { name: 'express', only: ['services/gateway'], instead: 'Only the gateway uses Express.' },
];
