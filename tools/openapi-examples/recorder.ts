import { setTimeout as pause } from 'node:timers/promises';
import { methodsOf, type OperationSpec, operations } from '@kith/contracts';
import type { Example } from '@kith/openapi';

/** A request to send, and its token. The project is the recorder's project. */
export interface Sent extends Omit<Example, 'answer'> {
  token?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the answer of any operation; the platform's suites check the fields that are read.
type Answer = any;

/** Sends requests to a platform, and keeps the first request of each operation with its answer. */
export class Recorder {
  readonly #url: string;
  readonly #begins = [Math.floor(performance.timeOrigin)];
  readonly examples: Record<string, Example> = {};
  /** The project of all requests whose address contains a project. */
  projectId = '';

  constructor(url: string) {
    this.#url = url;
  }

  /** When this process began, and when each request began, in ms. No two requests begin in the same millisecond. */
  get begins(): readonly number[] {
    return this.#begins;
  }

  /**
   * Sends a request and keeps it. Returns the answer's body. Throws if the answer's status is not the status that the contract
   * names.
   */
  async send(name: string, { token, ...sent }: Sent = {}): Promise<Answer> {
    const answer = await this.peek(name, { ...sent, ...(token ? { token } : {}) });
    this.examples[name] ??= { ...sent, ...(answer === undefined ? {} : { answer }) };
    return answer;
  }

  /** Sends a form with a file, and keeps the other fields of the form. */
  async upload(
    name: string,
    { token = '', params = {}, body = {}, file }: Sent & { file: File },
  ): Promise<Answer> {
    const operation = operations.find((one) => one.name === name);
    if (!operation?.upload) throw new Error(`There is no upload ${name}.`);
    const form = new FormData();
    for (const [field, value] of Object.entries(body)) form.set(field, String(value));
    form.set(operation.upload.part, file);
    await this.#begin();
    const response = await fetch(this.#url + this.#target(operation, { params }), {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: form,
    });
    if (response.status !== operation.status) throw new Error(`${name}: ${await response.text()}`);
    const answer = await response.json();
    const sent = { ...body, [operation.upload.part]: file.name };
    this.examples[name] ??= { ...(Object.keys(params).length > 0 && { params }), body: sent, answer };
    return answer;
  }

  /** Sends a request for bytes, and keeps only the request, not the answer. */
  async read(name: string, sent: Sent): Promise<void> {
    await this.peek(name, sent);
    this.examples[name] ??= sent;
  }

  /** Sends a request without keeping it. */
  async peek(name: string, { token, ...sent }: Sent): Promise<Answer> {
    const operation = operations.find((one) => one.name === name);
    if (!operation) throw new Error(`There is no operation ${name}.`);
    const headers: Record<string, string> = { 'User-Agent': 'Mozilla/5.0' };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (sent.body) headers['Content-Type'] = 'application/json';
    await this.#begin();
    const response = await fetch(this.#url + this.#target(operation, sent), {
      method: methodsOf(operation)[0] as string,
      headers,
      ...(sent.body ? { body: JSON.stringify(sent.body) } : {}),
    });
    const text = await response.text();
    if (response.status !== operation.status) throw new Error(`${name}: ${response.status} ${text}`);
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
    return operation.status === 204 ? undefined : isJson ? JSON.parse(text) : text;
  }

  async #begin(): Promise<void> {
    for (const before = Date.now(); Date.now() <= before; ) await pause(1);
    this.#begins.push(Date.now());
  }

  #target(operation: OperationSpec, { params = {}, query = {} }: Sent): string {
    const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const search = new URLSearchParams(query).toString();
    const scope = operation.scope === 'project' ? `/v7/${this.projectId}` : '';
    return scope + path + (search && `?${search}`);
  }
}
