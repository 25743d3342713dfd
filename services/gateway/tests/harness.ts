import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { readConfig } from '@kith/base';
import { type Bus, type Message, receivedAt } from '@kith/bus';
import {
  type ApiKey,
  type ErrorCode,
  errorBody,
  type GatewaySettings,
  getApiKeys,
  getJwks,
  getProjectSettings,
  getRevocations,
  internalSubject,
  type OperationSpec,
  type Revocations,
  rpcSubject,
  statusOf,
} from '@kith/contracts';
import { decodeContext, type RequestContext, type ServiceRuntime, successReply } from '@kith/service';
import { createRuntime, type EngineKind, startEngines, waitFor } from '@kith/testing';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { expect } from 'vitest';
import {
  type GatewayOptions,
  gatewayConfig,
  type LimiterStoreConfig,
  type RunningGateway,
  startGateway,
} from '../src/index.ts';

export interface TestGateway extends AsyncDisposable {
  gateway: RunningGateway;
  runtime: ServiceRuntime;
  bus: Bus;
  /** Starts another gateway with the same bus and the same limits. */
  another(options?: TestOptions): Promise<RunningGateway>;
}

export interface TestOptions {
  env?: Record<string, string>;
  nodeEnv?: ServiceRuntime['nodeEnv'];
  limiterStore?: LimiterStoreConfig;
  timeouts?: NonNullable<GatewayOptions['timeouts']>;
  streamTimes?: NonNullable<GatewayOptions['streamTimes']>;
  exportTimes?: NonNullable<GatewayOptions['exportTimes']>;
  upstreamTimes?: NonNullable<GatewayOptions['upstreamTimes']>;
  log?: ServiceRuntime['log'];
  bus?: Bus;
  now?: NonNullable<GatewayOptions['now']>;
}

/** Starts a gateway on a free port, with its own bus. If the engines are real, limits are counted in Redis. */
export async function startTestGateway(engine: EngineKind, options: TestOptions = {}): Promise<TestGateway> {
  const stack = new AsyncDisposableStack();
  const runtime = stack.use(await createRuntime(engine));
  let shared: LimiterStoreConfig = { kind: 'memory' };
  if (engine === 'containers') {
    // A Redis that is slow on a busy machine must not count as unreachable; redis-down.test.ts sets its own times.
    const patience = { patienceMs: 10_000, deadMs: 10_000 };
    shared = { kind: 'redis', url: stack.use(await startEngines()).redisUrl, ...patience };
  }
  const start = async (changes: TestOptions) => {
    const started = await startGateway({
      runtime: {
        ...runtime,
        bus: changes.bus ?? runtime.bus,
        nodeEnv: changes.nodeEnv ?? runtime.nodeEnv,
        log: changes.log ?? runtime.log,
      },
      config: readConfig(gatewayConfig, { PORT: '0', ...changes.env }),
      limiterStore: changes.limiterStore ?? shared,
      timeouts: { linger: 200, ...changes.timeouts },
      ...(changes.streamTimes ? { streamTimes: changes.streamTimes } : {}),
      ...(changes.exportTimes ? { exportTimes: changes.exportTimes } : {}),
      ...(changes.upstreamTimes ? { upstreamTimes: changes.upstreamTimes } : {}),
      ...(changes.now ? { now: changes.now } : {}),
    });
    stack.use(started);
    // On a busy machine, a worker is blocked while it loads a file. A request that arrives meanwhile seems to have waited all
    // this time, so a short deadline would already be over.
    await waitFor(() => Date.now() - receivedAt() < 10, { what: 'the worker to have caught up' });
    return started;
  };
  const gateway = await start(options);
  return {
    gateway,
    runtime,
    bus: runtime.bus,
    another: (changes = options) => start(changes),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends one request on a new connection. If `localAddress` is given, the connection comes from this address. */
export function send(
  port: number,
  request: {
    method?: string;
    path: string;
    headers?: Record<string, string>;
    body?: string | Uint8Array;
    localAddress?: string;
  },
): Promise<Answer> {
  const { method = 'GET', path, headers = {}, body, localAddress } = request;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers, localAddress, agent: false };
    const outgoing = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, text: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Writes bytes to a connection and returns all that comes back until the connection ends. */
export function raw(port: number, ...parts: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    for (const part of parts) socket.write(part);
  });
}

/** Reads the first answer from the text that `raw` returned. */
export function parseAnswer(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, text: rest.join('\r\n\r\n') };
}

/** The statuses of all answers in the text that `raw` returned. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Checks the status, the whole body and the content type of an error. The body must be the usual one for the error code. */
export function expectError(answer: Answer, code: ErrorCode): void {
  // The message of a 401 says why the token is refused, so this code has several messages. token.test.ts checks them.
  const said = code === 'auth/unauthorized' ? { message: JSON.parse(answer.text).error } : {};
  expect(answer.text).toBe(JSON.stringify(errorBody(code, said)));
  expect(answer.status).toBe(statusOf(code));
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  // An answer that is written to the bare connection has these headers, too (spec#edges-headers).
  expect(answer.headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
  expect(answer.headers['strict-transport-security']).toBeDefined();
  expect(answer.headers['x-frame-options']).toBe('DENY');
}

/** A request that a service has received. */
export interface Seen {
  context: RequestContext;
  body: string;
}

/** Serves an operation and remembers its requests. Answers with an empty object, or with what `reply` returns. */
export async function serveEcho(
  bus: Bus,
  spec: OperationSpec,
  reply: (message: Message) => Promise<Message | undefined> | Message = () => successReply(200, {}, {}),
): Promise<{ seen: Seen[]; stop(): Promise<void> }> {
  const seen: Seen[] = [];
  const intake = await bus.serve(rpcSubject(bus.prefix, spec), 'echo', async (message) => {
    seen.push({ context: decodeContext(message.headers), body: new TextDecoder().decode(message.body) });
    return reply(message);
  });
  return { seen, stop: () => intake.drain() };
}

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

export interface TestIssuer {
  /** How often the keys were asked for. */
  asked: number;
  /** The answer to requests for revocations. */
  revoked: Revocations;
  /** The answer to requests for projects' settings, two per page. */
  projects: GatewaySettings[];
  /** The answer to requests for API keys, with the hash of each key. */
  apiKeys: { hash: string; key: ApiKey }[];
  /** Delays each answer about revocations. The answer contains what was known before the delay. */
  hold?: () => Promise<void>;
  /**
   * Signs an access token. `changes` contains other values for claims. If a value is undefined there, the token lacks the
   * claim.
   */
  token(changes?: JWTPayload): Promise<string>;
  /** Begins to use another key, in addition to the old keys or instead of them. */
  rotate(options: { keepOld: boolean }): Promise<void>;
  stop(): Promise<void>;
}

export const projectId = randomUUID();
export const userId = randomUUID();

/** Plays identity: serves a key set on the bus, and signs with its newest key. */
export async function serveIssuer(bus: Bus): Promise<TestIssuer> {
  const made: { kid: string; jwk: object; privateKey: PrivateKey }[] = [];
  const addKey = async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const kid = randomUUID();
    made.push({ kid, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }, privateKey });
  };
  await addKey();
  const intake = await bus.serve(rpcSubject(bus.prefix, getJwks), 'identity', async () => {
    issuer.asked++;
    return successReply(200, { keys: made.map(({ jwk }) => jwk) }, {});
  });
  const revocations = await bus.serve(internalSubject(bus.prefix, getRevocations), 'identity', async () => {
    const reply = successReply(200, { ...issuer.revoked, next: null }, {});
    await issuer.hold?.();
    return reply;
  });
  const settings = await bus.serve(
    internalSubject(bus.prefix, getProjectSettings),
    'identity',
    async (message) => {
      const { after } = getProjectSettings.body.parse(JSON.parse(new TextDecoder().decode(message.body)));
      const start = issuer.projects.findIndex(({ projectId: id }) => id === after) + 1;
      const projects = issuer.projects.slice(start, start + 2);
      const next = start + 2 < issuer.projects.length ? (projects.at(-1)?.projectId ?? null) : null;
      return successReply(200, { projects, next }, {});
    },
  );
  const apiKeys = await bus.serve(internalSubject(bus.prefix, getApiKeys), 'identity', async () =>
    successReply(200, { keys: issuer.apiKeys, next: null }, {}),
  );
  const issuer: TestIssuer = {
    asked: 0,
    projects: [],
    apiKeys: [],
    revoked: { sessions: [], suspended: [], keys: [] },
    async token(changes = {}) {
      const key = made.at(-1);
      if (!key) throw new Error('There is no key.');
      const now = Math.floor(Date.now() / 1000);
      const claims = { sub: userId, projectId, sid: randomUUID(), role: 'visitor', jti: randomUUID() };
      const payload = { ...claims, iss: 'kith', aud: 'kith.dev', iat: now, exp: now + 600, ...changes };
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: key.kid }).sign(key.privateKey);
    },
    async rotate({ keepOld }) {
      if (!keepOld) made.length = 0;
      await addKey();
    },
    async stop() {
      await intake.drain();
      await revocations.drain();
      await settings.drain();
      await apiKeys.drain();
    },
  };
  return issuer;
}
