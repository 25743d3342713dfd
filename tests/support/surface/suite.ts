import { createNotifications, createServerKey, type Limit, type OutputOf } from '@kith/contracts';
import {
  type EngineKind,
  handlerEngines,
  sharedEnv,
  sharedPlatform,
  startPlatform,
  type TestPlatform,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from '../http.ts';
import type { Limits } from './headers.ts';
import { type PartName, parts } from './parts.ts';
import { Surface } from './surface.ts';

const sharedScale = Number(sharedEnv.RATE_LIMIT_SCALE);

/** What the tests of a part can use. The fields of this object are set only when the tests run. */
export interface SurfaceWorld extends Pick<Surface, 'ok' | 'refused' | 'eightAtOnce' | 'stream' | 'seen'> {
  platform: TestPlatform;
  /** The project of every call that names no other project. */
  projectId: string;
  operatorToken: string;
  /** A server key of the project. The gateway knows this key already. */
  serverKey: string;
  /** Somebody of another project. */
  stranger: TestUser;
  /** Signs somebody up in the project. */
  user(profile?: Record<string, unknown>): Promise<TestUser>;
}

export interface SurfaceOptions {
  /** The engines to test on. By default, these are `handlerEngines()`. */
  engines?: readonly EngineKind[];
  /** Set if the suites need a platform of their own, because they look at the whole platform or change what other suites see. */
  isOwn?: true;
  /** The factor by which every limit is multiplied. By default, it is so high that no test reaches a limit. */
  scale?: number;
  /** Limits that replace the limits of the contracts, by operation. */
  limits?: Readonly<Record<string, Limit>>;
  /** Returns the platform's environment. The returned object is disposed after the platform. */
  prepare?: (engine: string) => Promise<{ env: NodeJS.ProcessEnv } & AsyncDisposable>;
}

/** The tests of one part. */
export interface SurfaceSuite {
  name: PartName;
  tests: (world: SurfaceWorld) => void;
}

/** Makes the suite of a part; `describeSurface` runs it. */
export function surfaceSuite(name: PartName, tests: SurfaceSuite['tests']): SurfaceSuite {
  return { name, tests };
}

/**
 * Tests parts of the API on each of the engines, each part in projects of its own. The parts use a platform that other files
 * share. With an option other than `engines`, they use a platform of their own. After the tests of a part, checks that they
 * have reached every outcome that the part has to reach.
 */
export function describeSurface(
  suites: readonly SurfaceSuite[],
  { engines = handlerEngines(), ...own }: SurfaceOptions = {},
): void {
  const { scale = sharedScale, limits = {}, prepare } = own;
  const isOwn = Object.keys(own).length > 0;
  describe.each(engines)('surface on %s', (engine) => {
    let platform: TestPlatform;
    const undo = new AsyncDisposableStack();
    beforeAll(async () => {
      if (!isOwn) {
        platform = undo.use(await sharedPlatform(engine));
        return;
      }
      const prepared = prepare ? undo.use(await prepare(engine)) : undefined;
      const env = {
        RATE_LIMIT_SCALE: String(scale),
        RATE_LIMITS: JSON.stringify(limits),
        ...prepared?.env,
      };
      platform = undo.use(await startPlatform({ engine, env }));
    });
    afterAll(() => undo.disposeAsync());

    describe.each(suites)('$name', ({ name, tests }) => {
      const world = {} as SurfaceWorld;
      beforeAll(async () => {
        Object.assign(world, await makeWorld(platform, limitsOf(scale, limits)));
      });

      tests(world);

      it('the suite has reached every outcome that it has to reach', () => {
        const { operations, outcomes } = parts[name];
        const missed = operations.flatMap((spec) =>
          outcomes(spec)
            .filter((outcome) => !world.seen(spec).has(outcome))
            .map((outcome) => `${spec.name}: ${outcome}`),
        );
        expect(missed).toEqual([]);
      });
    });
  });
}

async function makeWorld(platform: TestPlatform, limits: Limits): Promise<SurfaceWorld> {
  const { id: projectId } = await platform.createProject('Surface');
  const { id: elsewhere } = await platform.createProject('Elsewhere');
  const surface = new Surface({ url: platform.url, projectId, limits });
  return {
    platform,
    projectId,
    operatorToken: platform.operatorToken,
    serverKey: await makeServerKey(platform, projectId),
    stranger: await platform.createUser(elsewhere, { name: 'Stranger' }),
    user: (profile) => platform.createUser(projectId, profile),
    ok: surface.ok.bind(surface),
    refused: surface.refused.bind(surface),
    eightAtOnce: surface.eightAtOnce.bind(surface),
    stream: surface.stream.bind(surface),
    seen: surface.seen.bind(surface),
  };
}

function limitsOf(scale: number, given: Readonly<Record<string, Limit>>): Limits {
  return (spec) => {
    const isOperators = spec.auth === 'operator';
    const limit = isOperators ? { max: 10, windowSeconds: 300 } : (given[spec.name] ?? spec.limit);
    return limit && { ...limit, max: limit.max * scale };
  };
}

/** Makes a server key of a project. Returns the key as soon as the gateway knows it. */
export async function makeServerKey(platform: TestPlatform, projectId: string): Promise<string> {
  const path = createServerKey.path.replace(':projectId', projectId);
  const { operatorToken: token, url } = platform;
  const { key } = await platform.call<OutputOf<typeof createServerKey>>('POST', path, {
    token,
    body: { name: 'Backend' },
  });
  // Status 400 means that the gateway accepts the key, and refuses the body.
  const ask = { method: 'POST', path: `/v7/${projectId}${createNotifications.path}`, token: key, body: {} };
  await waitFor(async () => (await http(url, ask)).status === 400, { what: 'the server key' });
  return key;
}
