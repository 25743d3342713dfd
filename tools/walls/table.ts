import { readdirSync } from 'node:fs';

/**
 * A room is a folder of sources. It says which of our own packages the folder may import, by the names that imports use. For
 * third-party packages, see `drivers` below.
 */
export interface Room {
  /** Packages of ours that the folder may import. An entry that ends with `*` matches any name with the same beginning. */
  may: readonly string[];
  /** Packages that the folder's tests may import in addition to `may` and to the list `suites`. */
  suites?: readonly string[];
  /** Files and folders outside of this folder. The folder may import them by path. */
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
    'A service imports contracts, the store and the runtime alone: it asks other services over the bus (`ask`), or follows their events (`subscription`).',
};

/**
 * Packages that the tests of every package may import in addition: packages that tests start, and packages that tests look into.
 */
export const suites = [
  ...[...storing, ...embedding, ...distributing, '@kith/store/testing'],
  ...['@kith/testing', '@kith/testing/die-before-write', '@kith/engines'],
];

/** The folder that tests of packages share with tests of the whole platform. */
export const shared = 'tests/support/';

/** What each package may import. */
export const packages: Readonly<Record<string, Room>> = {
  'libs/contracts': {
    may: [],
    instead: 'Contracts import nothing of ours: what they share with others is moved into them.',
  },
  'libs/openapi': {
    may: ['@kith/contracts'],
    instead: 'The document is made from contracts alone: what it needs to know is put into them.',
  },
  'libs/client': {
    may: [],
    instead:
      'The client imports nothing of ours: what it needs of contracts is generated into it (tools/client.ts).',
  },
  'libs/base': {
    may: ['@kith/contracts'],
    instead:
      'Everything stands on base, so it imports contracts alone: what it would need of another package is a parameter, or belongs into that package.',
  },
  'libs/store': {
    may: [...base, '@kith/contracts'],
    instead:
      'The store knows neither the bus nor the runtime: what it needs of them it declares itself, as `Progress` and `Span`.',
  },
  'libs/bus': {
    may: [...base, '@kith/store', '@kith/store/sqlite'],
    instead:
      'The bus carries bytes: it imports base, and of the store its declarations and the files of SQLite. What reads messages belongs into libs/service.',
  },
  'libs/service': {
    may: [...base, '@kith/contracts', '@kith/store', '@kith/bus', '@kith/bus/nats'],
    instead:
      'The runtime knows no service, and loads no driver of a store: what one needs of it is a parameter, or belongs into the service.',
  },
  ...each(service),
  'services/crypto': {
    may: kit,
    instead:
      'Crypto stores nothing and asks nobody: it imports contracts and the runtime, without the store.',
  },
  'services/gateway': {
    may: [...kit, '@kith/openapi'],
    suites: ['@kith/notifications', '@kith/notifications/testing', '@kith/storage', '@kith/storage/testing'],
    instead:
      'The gateway moves bytes to services over the bus: it imports contracts, the document and the runtime.',
  },
  'services/connections': { ...service, suites: ['@kith/identity'] },
  'services/collections': { ...service, suites: ['@kith/identity'] },
  'services/notifications': { ...service, suites: ['@kith/identity'] },
  'services/storage': { ...service, suites: ['@kith/identity'] },
  'tools/engines': {
    may: base,
    instead: 'Engines are got onto a machine without knowing what runs on them: they import base alone.',
  },
  'apps/kith': {
    may: [
      ...[...storing, ...embedding, ...distributing, '@kith/engines'],
      ...services.map((name) => `@kith/${name}`),
    ],
    instead: 'The application composes services: what it would need of the test kit belongs into it.',
  },
  'apps/testing': {
    may: [...storing, ...embedding, ...distributing, '@kith/platform', '@kith/engines', '@kith/client'],
    instead:
      'The test kit starts platforms: it imports the platform, engines and the client, and no service by itself.',
  },
};

/** Folders that are no part of the product. They measure, prove or build it. */
export const around: Readonly<Record<string, Room>> = {
  bench: {
    may: ['@kith/*'],
    instead: 'What is measured of a package is exported by it, from its entry `testing`.',
  },
  tests: {
    may: ['@kith/*'],
    reaches: [
      'tools/packages/',
      'tools/walls/',
      'tools/bootstrap/',
      'tools/images/',
      'examples/people/kith-settings.ts',
      'package.json',
    ],
    instead:
      'A suite that needs the inside of a package is one of its own, or the package exports it from its entry `testing`.',
  },
  faults: {
    may: ['@kith/*'],
    reaches: [shared],
    instead: 'What is needed of a package is exported by it, from its entry `testing`.',
  },
  tools: {
    may: ['@kith/*'],
    reaches: [shared, 'examples/people/kith-settings.ts'],
    instead: 'What a tool needs of a package is exported by it.',
  },
};

const parts = { store: [''], operations: ['', 'store'], '': ['store', 'operations'] };

/**
 * For each package: the folders of its `src`, each with the other folders that it may import. '' stands for the files beside
 * the folders. If '' and a folder may import each other, '' holds both the package's entry and the code that the whole package
 * uses. In a package that is not listed, any folder may import any other folder. In a listed package, every folder has to be
 * listed.
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
    backup: ['drivers', 'outbox', 'documents'],
    '': ['drivers', 'blobs', 'outbox', 'documents', 'backup'],
  },
  'libs/service': {
    background: [],
    operations: ['events'],
    config: ['operations'],
    http: ['operations'],
    events: ['background'],
    profiles: ['operations', 'events'],
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
 * Third-party packages that only the listed rooms may import. `name` is the name of a package, or the beginning of names that
 * ends with `/`.
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
    instead: 'Services speak through `Bus`.',
  },
  { name: 'ioredis', only: ['services/gateway'], instead: 'Limits are counted by the gateway alone.' },
  { name: '@aws-sdk/', only: ['libs/store'], instead: 'Bytes are stored through `Blobs` (docs/adr/0045).' },
  { name: 'sharp', only: ['services/storage'], instead: 'Images are read by storage alone.' },
  {
    name: 'http-proxy-middleware',
    only: ['services/gateway', 'bench'],
    instead: 'The gateway alone proxies.',
  },
  { name: 'express', only: ['services/gateway'], instead: 'HTTP is spoken by the gateway alone.' },
];
