import { type ErrorCode, methodsOf, type OperationSpec, type OutputOf } from '@kith/contracts';
import { EventSource } from '@kith/testing';
import { expect } from 'vitest';
import { type Answer, type Ask, http } from '../http.ts';
import { multipart, type Part } from '../multipart.ts';
import { expectHeaders, type Limits } from './headers.ts';
import { mayAnswer } from './outcomes.ts';
import { expectRefusal, type Refusal } from './refusal.ts';

/** The input of a call. This input and the operation together give the method and the path. */
export interface Given {
  /** The project in the address. By default, it is the suite's project. `null` makes a short form (spec#short-forms). */
  projectId?: string | null;
  /** The address's version prefix, `/v7` by default. */
  form?: string;
  /** One of the operation's methods. By default, it is the first method. */
  method?: string;
  params?: Record<string, string>;
  /** The query string, without the question mark. */
  query?: string;
  body?: unknown;
  /** The parts of a form. The form replaces the body. */
  parts?: readonly Part[];
  /** The content type of a success, if the contract does not say it. */
  type?: string;
  token?: string;
  /** Whether the token is a server key of another project. */
  isForeignKey?: boolean;
  headers?: Record<string, string>;
  /** The local address to call from. */
  from?: string;
  /** Changes the finished request. A test uses this function if it needs a request that a well-formed call cannot express. */
  bend?: (ask: Ask) => Ask;
}

/** An answer that follows its contract. */
export interface Accepted<Body> {
  body: Body;
  /** The body as it came. */
  text: string;
  headers: Record<string, string>;
}

let calls = 0;
/** The form of the request ids that the gateway makes. */
const madeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Calls operations over HTTP, checks whole answers, and records which outcomes of each operation it has seen. */
export class Surface {
  readonly #options: { url: string; projectId: string; limits: Limits };
  readonly #seen = new Map<string, Set<string>>();

  constructor(options: { url: string; projectId: string; limits: Limits }) {
    this.#options = options;
  }

  /** The outcomes of an operation that were seen: statuses (`200`, `200 GET`) and codes (`code`, `code field`). */
  seen(spec: OperationSpec): ReadonlySet<string> {
    return this.#seen.get(spec.name) ?? new Set();
  }

  /**
   * Calls an operation that must succeed, and returns the answer. Before that, checks that the body of the answer has what the
   * contract says, and nothing else.
   */
  async ok<O extends OperationSpec>(spec: O, given: Given = {}): Promise<Accepted<OutputOf<O>>> {
    return this.#accept(spec, given, await this.#send(spec, given));
  }

  #accept<O extends OperationSpec>(spec: O, given: Given, answer: Answer): Accepted<OutputOf<O>> {
    expect([answer.status, spec.name, answer.text]).toEqual([spec.status, spec.name, answer.text]);
    const limits = this.#limitsOf(given);
    expectHeaders(answer, { spec, limits, ...(given.type && { type: given.type }) });
    const body = bodyOf(spec, answer);
    const read = spec.output.parse(body);
    // Parsing drops all fields that the contract does not name. So if the body has an unknown field, the body differs from the
    // parsed body, and this check fails.
    expect(body).toStrictEqual(read);
    this.#see(spec, String(spec.status));
    this.#see(spec, `${spec.status} ${given.method ?? methodsOf(spec)[0]}`);
    return { body: body as OutputOf<O>, text: answer.text, headers: answer.headers };
  }

  /** Calls an operation that must answer with an error. Checks the whole envelope and the headers. */
  async refused(spec: OperationSpec, given: Given, code: ErrorCode, refusal: Refusal = {}): Promise<Answer> {
    return this.#refuse(spec, given, await this.#send(spec, given), code, refusal);
  }

  /**
   * Sends eight simultaneous calls of an operation. Each call must succeed or be refused with `code`. Returns how many calls
   * were refused.
   */
  async eightAtOnce(
    spec: OperationSpec,
    given: Given,
    code: ErrorCode,
    refusal: Refusal = {},
  ): Promise<number> {
    const answers = await Promise.all(Array.from({ length: 8 }, () => this.#send(spec, given)));
    const refused = answers.filter(({ status }) => status !== spec.status);
    for (const answer of answers) {
      if (refused.includes(answer)) this.#refuse(spec, given, answer, code, refusal);
      else this.#accept(spec, given, answer);
    }
    return refused.length;
  }

  #refuse(spec: OperationSpec, given: Given, answer: Answer, code: ErrorCode, refusal: Refusal = {}): Answer {
    if (!mayAnswer(spec, code)) throw new Error(`The contract of ${spec.name} does not list ${code}.`);
    expectRefusal(answer, { operation: spec.name, code, ...refusal });
    expectHeaders(answer, { spec, limits: this.#limitsOf(given, code), code });
    this.#see(spec, code);
    if (refusal.field !== undefined) this.#see(spec, `${code} ${refusal.field}`);
    return answer;
  }

  /**
   * The limits that apply to a call. At the addresses of its project, a server key has a counter of its own, and higher limits
   * (spec#limits-server-keys).
   */
  #limitsOf({ token, projectId, isForeignKey }: Given, code?: ErrorCode): Limits {
    const { limits } = this.#options;
    const isHere = projectId !== null && !isForeignKey;
    const isKey = token?.startsWith('kith_sk_') && isHere && code !== 'auth/unauthorized';
    return (spec) => {
      const limit = limits(spec);
      const isTaken = isKey && spec.auth !== 'none' && spec.auth !== 'operator';
      return limit && isTaken ? { ...limit, max: limit.max * 20 } : limit;
    };
  }

  /** Opens an operation that answers with a stream. */
  async stream(spec: OperationSpec, given: Given & { lastEventId?: string } = {}): Promise<EventSource> {
    const { path } = this.#ask(spec, given);
    const { token = '', lastEventId } = given;
    const source = await EventSource.open(this.#options.url + path, { token, lastEventId });
    const { status } = source;
    const headers = source.headers as Record<string, string>;
    expect(status).toBe(spec.status);
    expectHeaders({ status, headers }, { spec, limits: this.#options.limits, type: 'text/event-stream' });
    expect(headers['x-request-id']).toMatch(madeId);
    this.#see(spec, `${spec.status} GET`);
    return source;
  }

  async #send(spec: OperationSpec, given: Given): Promise<Answer> {
    const made = this.#ask(spec, given);
    const ask = given.bend?.(made) ?? made;
    const answer = await http(this.#options.url, ask);
    const id = ask.headers?.['x-request-id'] ?? '';
    const isEchoed = /^[\w.-]{1,64}$/.test(id);
    expect(answer.headers['x-request-id']).toEqual(isEchoed ? id : expect.stringMatching(madeId));
    return answer;
  }

  #ask(spec: OperationSpec, given: Given): Ask {
    const { token, from, parts } = given;
    const sent = parts && multipart(parts);
    const body = sent?.body ?? given.body;
    const [first] = methodsOf(spec);
    return {
      method: given.method ?? first,
      path: this.#pathOf(spec, given),
      ...(token === undefined ? {} : { token }),
      ...(from === undefined ? {} : { from }),
      ...(body === undefined ? {} : { body }),
      headers: {
        'x-request-id': `surface-${++calls}`,
        ...(sent && { 'content-type': sent.type }),
        ...given.headers,
      },
    };
  }

  #pathOf(spec: OperationSpec, given: Given): string {
    const { projectId = this.#options.projectId, form = '/v7', params = {}, query } = given;
    const path = spec.path.replaceAll(/:(\w+)/g, (_, name: string) => {
      const value = params[name];
      if (value === undefined) throw new Error(`The call of ${spec.name} gives no ${name}.`);
      return encodeURIComponent(value);
    });
    const scope = projectId === null ? form : `${form}/${projectId}`;
    return `${spec.scope === 'project' ? scope : ''}${path}${query ? `?${query}` : ''}`;
  }

  #see(spec: OperationSpec, outcome: string): void {
    this.#seen.set(spec.name, new Set([...this.seen(spec), outcome]));
  }
}

/** The body of an answer, in the form that its contract says. `undefined` if the contract has no body. */
function bodyOf(spec: OperationSpec, answer: Answer): unknown {
  if (spec.status === 204) {
    expect(answer.text).toBe('');
    return undefined;
  }
  if (spec.kind === 'download') return undefined;
  return spec.contentType ? answer.text : answer.json();
}
