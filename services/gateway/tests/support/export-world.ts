import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Intake } from '@kith/bus';
import { type BodyOf, type ExportSection, exportUser, internalSubject } from '@kith/contracts';
import { errorReply, successReply } from '@kith/service';
import type { EngineKind } from '@kith/testing';
import {
  projectId,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
  type TestOptions,
  userId,
} from '../harness.ts';

/** The request for a page of a section. */
export type Range = BodyOf<ExportSection>;
/** A section's answer: a page, an error for `failure`, or nothing at all for `silence`. */
export type Page = { items: unknown[]; next: string | null } | 'silence' | 'failure';
type Give = (range: Range) => Page | Promise<Page>;

const { sections } = exportUser.parts;
export type SectionName = keyof typeof sections;

export const path = `/v7/${projectId}/users/${userId}/export`;
export const contentDisposition = `attachment; filename="kith-export-${userId}.json"`;
const at = '2026-01-02T03:04:05.678Z';
export const head = { exportedAt: at, user: ownUser(), factors: [], recoveryCodesLeft: 0 };

/** A gateway in front of simulated services. Every section answers with one empty page, unless `give` sets another answer. */
export class ExportWorld implements AsyncDisposable {
  readonly test: TestGateway;
  readonly issuer: TestIssuer;
  /** The requests for pages, in order. */
  readonly asked: { name: SectionName; range: Range }[] = [];
  readonly #intakes = new Map<SectionName, Intake>();

  private constructor(test: TestGateway, issuer: TestIssuer) {
    this.test = test;
    this.issuer = issuer;
  }

  static async start(engine: EngineKind, options: TestOptions = {}): Promise<ExportWorld> {
    const env = { RATE_LIMIT_SCALE: '0', ...options.env };
    const test = await startTestGateway(engine, { ...options, env });
    const world = new ExportWorld(test, await serveIssuer(test.bus));
    const reply = successReply(200, head, { 'Content-Disposition': contentDisposition });
    await serveEcho(test.bus, exportUser, () => reply);
    for (const name of Object.keys(sections) as SectionName[]) {
      await world.give(name, () => ({ items: [], next: null }));
    }
    return world;
  }

  /** From now on, the section answers with what `give` returns. */
  async give(name: SectionName, give: Give): Promise<void> {
    await this.takeAway(name);
    const { bus } = this.test;
    const section = sections[name];
    const intake = await bus.serve(internalSubject(bus.prefix, section), 'played', async (message) => {
      const range: Range = JSON.parse(new TextDecoder().decode(message.body));
      this.asked.push({ name, range });
      const page = await give(range);
      if (page === 'silence') return undefined;
      if (page === 'failure') return errorReply(`${section.feature}/server-error`);
      return successReply(200, page, {});
    });
    this.#intakes.set(name, intake);
  }

  /** Stops serving a section. */
  async takeAway(name: SectionName): Promise<void> {
    await this.#intakes.get(name)?.drain();
  }

  async open(options: { method?: string; token?: string } = {}): Promise<Download> {
    const token = options.token ?? (await this.issuer.token());
    return Download.open(this.test.gateway.port, { method: options.method ?? 'GET', token });
  }

  /** How many exports have ended before they were complete. */
  async brokenOff(): Promise<number> {
    const { values } = await this.test.runtime.metrics.httpSeconds.get();
    const { name: operation } = exportUser;
    const ended = values.filter(
      ({ labels }) => labels.operation === operation && labels.status === 'aborted',
    );
    return ended.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.test[Symbol.asyncDispose]();
  }
}

/** An answer that is still being received. */
export class Download implements Disposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  text = '';
  /** Whether the whole answer has arrived; `undefined` while this is not known yet. */
  isWhole: boolean | undefined;
  readonly #response: IncomingMessage;

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('close', () => {
      this.isWhole = response.complete;
    });
  }

  static open(port: number, { method, token }: { method: string; token: string }): Promise<Download> {
    const headers = { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
      outgoing.once('response', (response) => resolve(new Download(response)));
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** Reads until the answer ends or the connection breaks. */
  async read(): Promise<this> {
    this.#response.on('data', (chunk: string) => {
      this.text += chunk;
    });
    if (this.isWhole === undefined) await new Promise((resolve) => this.#response.once('close', resolve));
    return this;
  }

  /** Closes the connection without reading the rest. */
  [Symbol.dispose](): void {
    this.#response.destroy();
  }
}

/** A session in the form in which an export shows it. */
export function sessionItem(id: string) {
  return { id, createdAt: at, lastUsedAt: at, expiresAt: at, userAgent: 'a'.repeat(500), ip: null };
}

/** A page of about half a megabyte. It is never the last page. */
export function largePage() {
  return { items: Array.from({ length: 800 }, () => sessionItem(randomUUID())), next: 'more' };
}

function ownUser() {
  const nothing = { foreignId: null, bannerFileId: null, avatarFileId: null, bio: null, birthdate: null };
  const profile = { name: 'Zoë }', username: null, avatar: null, location: null, metadata: {} };
  const own = { email: null, isVerified: false, isActive: true, lastActive: null, updatedAt: at };
  return {
    id: userId,
    projectId,
    ...nothing,
    ...profile,
    role: 'visitor',
    reputation: 0,
    createdAt: at,
    ...own,
  };
}
