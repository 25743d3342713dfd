// Quick counterpart: tests/surface/layers.test.ts
// Starts at most 2 platforms and 7 processes.
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ErrorCode,
  importFile,
  type OperationSpec,
  operations,
  serviceOf,
  stepUp,
} from '@kith/contracts';
import {
  availableEngines,
  fragileStore,
  type Line,
  layLine,
  startEngines,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { http } from '../support/http.ts';
import { filePart, type Part, smallPng } from '../support/multipart.ts';
import { importedRow } from '../support/surface/imported-row.ts';
import { classes, sides } from '../support/surface/parts.ts';
import { describeSurface, makeServerKey, surfaceSuite } from '../support/surface/suite.ts';
import type { Given } from '../support/surface/surface.ts';

const serviceNames = [...new Set(operations.map(serviceOf))];
const needsProcesses = 'All services run in one process, so none can be stopped alone.';
/** On real engines, every service reaches its database through this proxy, which can cut the connections. */
let line: Line | undefined;

// Calls each operation while the databases of all services are gone, and then while the services are gone.
const serverErrors = surfaceSuite('server-errors', (world) => {
  let strangerKey: string;
  beforeAll(async () => {
    strangerKey = await makeServerKey(world.platform, world.stranger.projectId);
  });

  it('if the databases are gone, each operation answers with the server-error of its feature, without details', async () => {
    const [ada, grace] = [await world.user(), await world.user()];
    if (line) line.cut();
    else {
      const files = readdirSync(world.platform.dataFolder).filter((name) => /^[a-z]+\.sqlite$/.test(name));
      for (const name of files.filter((one) => one !== 'events.sqlite')) {
        const file = join(world.platform.dataFolder, name);
        (await fragileStore({ kind: 'sqlite', file })).takeDown();
      }
    }
    await Promise.all(
      sides['server-errors'].operations.map((spec) =>
        world.refused(spec, callOf(spec, { ada, grace }), `${spec.feature}/server-error` as ErrorCode),
      ),
    );
  });

  it('if the services do not answer, one operation of each auth class answers with gateway/timeout', async ({
    skip,
  }) => {
    const { processes } = world.platform;
    skip(!processes, needsProcesses);
    const pids = serviceNames.flatMap((name) => processes?.process(name)?.pid ?? []);
    expect(pids).toHaveLength(serviceNames.length);
    const signal = (name: NodeJS.Signals) => {
      for (const pid of pids) process.kill(pid, name);
    };
    signal('SIGSTOP');
    try {
      await refuseAll(Object.values(classes), 'gateway/timeout');
    } finally {
      signal('SIGCONT');
    }
    await waitFor(
      async () => (await http(world.platform.url, { path: '/.well-known/jwks.json' })).status === 200,
    );
  });

  it('if no service runs, every operation answers with gateway/unavailable', async ({ skip }) => {
    const { processes } = world.platform;
    skip(!processes, needsProcesses);
    await Promise.all(serviceNames.map((name) => processes?.process(name)?.stop()));
    await refuseAll(operations, 'gateway/unavailable');
  });

  async function refuseAll(specs: readonly OperationSpec[], code: ErrorCode): Promise<void> {
    const { stranger } = world;
    const { projectId } = stranger;
    await Promise.all(
      specs.map((spec) =>
        world.refused(spec, { ...callOf(spec, { ada: stranger, grace: stranger }), projectId }, code),
      ),
    );
  }

  function callOf(spec: OperationSpec, { ada, grace }: Record<'ada' | 'grace', TestUser>): Given {
    const ids: Record<string, string> = {
      // If an operation is about the caller's own account, this is the caller's id. Otherwise it is another user's id.
      userId: spec.feature === 'user' && spec.auth === 'user' ? ada.id : grace.id,
      projectId: world.projectId,
      variant: 'small',
    };
    const names = Object.keys(spec.params.shape);
    const { email, password, refreshToken } = ada;
    const body = {
      email,
      password,
      refreshToken,
      newPassword: password,
      newEmail: 'new@example.com',
      token: 'x',
      userJwt: 'a.b.c',
      code: '123456',
      rpId: 'example.org',
      name: 'x',
      collectionName: 'x',
      entityId: 'x',
      kid: 'x',
      showsConnections: false,
      types: {},
      scopes: ['users:read'],
      userIds: [grace.id],
      type: 'totp',
      rows: [importedRow(spec)],
    };
    const serverKey = ada === world.stranger ? strangerKey : world.serverKey;
    const tokens = { operator: world.operatorToken, 'server-key': serverKey };
    const token = spec.auth in tokens ? tokens[spec.auth as keyof typeof tokens] : ada.accessToken;
    return {
      token,
      // The ids do not have to exist, because no lookup can succeed.
      params: Object.fromEntries(names.map((name) => [name, ids[name] ?? world.projectId])),
      ...(spec.upload ? { parts: [...fieldsOf(spec), filePart(smallPng)] } : {}),
      query: 'username=ada&foreignId=x&query=ada&entityId=x&token=x'
        .split('&')
        .filter((one) => isKnown(spec, one))
        .join('&'),
      ...(spec.method === 'GET' ? {} : { body: bodyOf(spec, body) }),
    };
  }
});

describeSurface([serverErrors], {
  engines: availableEngines(),
  async prepare(engine) {
    line = undefined;
    if (engine === 'embedded') return { env: {}, async [Symbol.asyncDispose]() {} };
    const engines = await startEngines();
    const url = new URL(engines.mongodbUrl);
    url.port ||= '27017';
    const laid = await layLine(url);
    line = laid;
    url.host = laid.address;
    url.searchParams.set('directConnection', 'true');
    // Each operation waits this long for the lost database. The default of 3 s would be too long: the test calls all operations
    // at the same time, so each operation is slow, and a service refuses an operation that would take too long.
    url.searchParams.set('serverSelectionTimeoutMS', '1000');
    return {
      env: { MONGODB_URL: url.href, REQUEST_TIMEOUT_MS: '20000' },
      async [Symbol.asyncDispose]() {
        await laid[Symbol.asyncDispose]();
        await engines[Symbol.asyncDispose]();
      },
    };
  },
});

/** The required fields of a form, without the file. */
function fieldsOf(spec: OperationSpec): Part[] {
  if (spec !== importFile) return [];
  const id = randomUUID();
  return Object.entries({ userId: id, id, createdAt: '2020-01-02T03:04:05Z' }).map(([name, value]) => ({
    name,
    value,
  }));
}

function isKnown(spec: OperationSpec, parameter: string): boolean {
  return (parameter.split('=')[0] ?? '') in spec.query.shape;
}

function bodyOf(spec: OperationSpec, body: Record<string, unknown>): Record<string, unknown> {
  // Step-up takes exactly one proof.
  if (spec === stepUp) return { password: body.password };
  return spec.auth === 'operator' ? knownOf(spec, body) : body;
}

/** The fields of a body that an operation reads. Operators' operations refuse any other field. */
function knownOf(spec: OperationSpec, body: Record<string, unknown>): Record<string, unknown> {
  const shape = spec.body instanceof z.ZodObject ? spec.body.shape : body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in shape));
}
