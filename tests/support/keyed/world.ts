import { randomUUID } from 'node:crypto';
import type { Bus } from '@kith/bus';
import {
  createProject,
  createSubCollection,
  getRootCollection,
  type OperationSpec,
  type Session,
  signUp,
} from '@kith/contracts';
import { callerOf, callOperation, type OperationCall, waitFor } from '@kith/testing';

/**
 * Prepares the data that requests with an idempotency key need. To do so, it sends requests of its own over the services' bus.
 */
export class KeyedWorld {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Repeats a request as long as the answer says that the request is under way. */
  async untilAnswered(spec: OperationSpec, call: OperationCall) {
    return waitFor(
      async () => {
        const answer = await callOperation(this.#bus, spec, call);
        return answer.status === 409 ? undefined : answer;
      },
      { timeoutMs: 20_000, what: `the end of ${spec.name}` },
    );
  }

  /** A valid request of an operation, in a project of its own. */
  async callOf(operation: string): Promise<OperationCall & { projectId: string }> {
    const make = this.#calls[operation];
    if (!make) throw new Error(`There is no call of ${operation}: add one to the list below.`);
    const project = await this.#ok<{ id: string }>(createProject, { body: { name: 'Keyed' } });
    return { idempotencyKey: randomUUID(), ...(await make(project.id)), projectId: project.id };
  }

  readonly #calls: Readonly<Record<string, (projectId: string) => Promise<OperationCall>>> = {
    'identity.sign-up': async () => ({
      body: { email: `${randomUUID()}@example.com`, password: randomUUID() },
    }),
    'collections.create-sub-collection': async (projectId) => ({
      ...(await this.#folder(projectId)),
      body: { collectionName: 'Sub' },
    }),
  };

  async #ok<T>(spec: OperationSpec, call: OperationCall): Promise<T> {
    const { status, text, body } = await callOperation(this.#bus, spec, call);
    if (status !== spec.status) throw new Error(`${spec.name} answered ${status}: ${text}`);
    return body;
  }

  async #folder(projectId: string) {
    const body = { email: `${randomUUID()}@example.com`, password: randomUUID() };
    const caller = callerOf((await this.#ok<Session>(signUp, { projectId, body })).user.id);
    const root = await this.#ok<{ id: string }>(getRootCollection, { projectId, caller });
    const call = { projectId, caller, params: { collectionId: root.id }, body: { collectionName: 'Folder' } };
    const { id } = await this.#ok<{ id: string }>(createSubCollection, call);
    return { caller, params: { collectionId: id } };
  }
}
