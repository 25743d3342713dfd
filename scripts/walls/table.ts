/** Packages that a package's source may import, beside those of others: ours, as they are imported. */
export interface Room {
  /** Ours that it may import; an entry that ends with `*` is any that begins so. */
  may: readonly string[];
  /** Where to go instead. */
  instead: string;
}

const kit = ['@kith/contracts', '@kith/service', '@kith/service/config'];
const storing = [...kit, '@kith/service/documents', '@kith/service/backup'];
const services = ['crypto', 'identity', 'connections', 'collections', 'notifications'].map(
  (name) => `@kith/${name}`,
);

const service: Room = {
  may: storing,
  instead:
    'A service imports contracts and the service kit alone: it asks other services over the bus (`ask`), or follows their events (`subscription`).',
};

/** What each package's `src` may import. */
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
      'The client imports nothing of ours: what it needs of contracts is generated into it (scripts/client.ts).',
  },
  'libs/service': {
    may: ['@kith/contracts'],
    instead:
      'The service kit knows no service: what one needs of it is a parameter, or belongs into the service.',
  },
  'services/crypto': {
    may: kit,
    instead:
      'Crypto stores nothing and asks nobody: it imports contracts and the service kit, without its store.',
  },
  'services/gateway': {
    may: [...kit, '@kith/openapi'],
    instead:
      'The gateway moves bytes to services over the bus: it imports contracts, the document and the service kit.',
  },
  'services/identity': service,
  'services/connections': service,
  'services/collections': service,
  'services/notifications': service,
  'libs/platform': {
    may: [...storing, '@kith/service/embedded', ...services, '@kith/gateway'],
    instead:
      'The platform composes services: what it would need of the command line or of the test kit belongs into it.',
  },
  'libs/cli': {
    may: [...storing, '@kith/service/embedded', ...services, '@kith/platform', '@kith/platform/access'],
    instead:
      'The command line imports the platform and services, not the test kit; engines are the business of libs/platform.',
  },
  'libs/testing': {
    may: [...storing, '@kith/service/embedded', '@kith/platform', '@kith/platform/engines', '@kith/client'],
    instead:
      'The test kit starts platforms: it imports the platform and the client, and no service by itself.',
  },
};

/** What the folders of a package's `src` may import of each other, where that is decided; '' is what lies beside them. */
export const folders: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'services/gateway': {
    routes: [],
    tables: [],
    http: ['routes', 'tables'],
    forward: ['routes'],
    auth: ['routes', 'forward', 'tables'],
    limits: ['tables'],
    streams: ['http', 'forward'],
    exports: ['http', 'forward'],
    reference: ['http', 'routes'],
    '': ['routes', 'tables', 'http', 'forward', 'auth', 'limits', 'streams', 'exports', 'reference'],
  },
};

/** Packages of others that only these may import, by what their name begins with. */
export const drivers: readonly { name: string; only: readonly string[]; instead: string }[] = [
  {
    name: 'mongodb',
    only: ['libs/service', 'libs/cli', 'libs/testing'],
    instead: 'Services store through `Documents` (docs/adr/0037).',
  },
  {
    name: 'node:sqlite',
    only: ['libs/service', 'libs/platform', 'libs/cli', 'libs/testing'],
    instead: 'Services store through `Documents` (docs/adr/0037).',
  },
  {
    name: '@nats-io/',
    only: ['libs/service', 'libs/platform', 'libs/testing'],
    instead: 'Services speak through `Bus`.',
  },
  { name: 'ioredis', only: ['services/gateway'], instead: 'Limits are counted by the gateway alone.' },
  { name: 'express', only: ['services/gateway'], instead: 'HTTP is spoken by the gateway alone.' },
];
