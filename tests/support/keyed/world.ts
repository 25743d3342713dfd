import { randomUUID } from 'node:crypto';
import type { Bus } from '@kith/bus';
import {
  acceptConnection,
  addEntity,
  blockUser,
  createProject,
  createSubCollection,
  getRootCollection,
  listNotifications,
  type OperationSpec,
  requestConnection,
  type Session,
  signIn,
  signUp,
} from '@kith/contracts';
import { callerOf, callOperation, type OperationCall, waitFor } from '@kith/testing';

/** Prepares everything that requests with an idempotency key need. It does so by its own requests over the services' bus. */
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
    if (!make) throw new Error(`Nothing here calls ${operation}: add a call to the list below.`);
    const project = await this.#ok<{ id: string }>(createProject, { body: { name: 'Keyed' } });
    return { idempotencyKey: randomUUID(), ...(await make(project.id)), projectId: project.id };
  }

  readonly #calls: Readonly<Record<string, (projectId: string) => Promise<OperationCall>>> = {
    'identity.sign-up': async () => ({
      body: { email: `${randomUUID()}@example.com`, password: randomUUID() },
    }),
    'identity.change-password': async (projectId) => {
      const { caller, email, password } = await this.#user(projectId);
      await this.#ok(signIn, { projectId, body: { email, password } });
      return { caller, body: { password, newPassword: randomUUID() } };
    },
    'identity.delete-session': async (projectId) => {
      const { caller } = await this.#user(projectId);
      return { caller, params: { sessionId: caller.sessionId } };
    },
    'identity.update-user': async (projectId) => {
      const { caller } = await this.#user(projectId);
      return { caller, params: { userId: caller.userId }, body: { bio: 'New' } };
    },
    'identity.delete-user': async (projectId) => {
      const { caller } = await this.#user(projectId);
      return { caller, params: { userId: caller.userId } };
    },
    'connections.request': async (projectId) => {
      const [ada, grace] = await this.#two(projectId);
      return { caller: ada.caller, params: { userId: grace.caller.userId }, body: { message: 'Hello' } };
    },
    'connections.delete-with-user': async (projectId) => {
      const { ada, grace } = await this.#asked(projectId);
      return { caller: ada.caller, params: { userId: grace.caller.userId } };
    },
    'connections.accept': (projectId) => this.#answering(projectId),
    'connections.decline': (projectId) => this.#answering(projectId),
    'connections.delete': async (projectId) => {
      const { caller, params } = await this.#answering(projectId);
      await this.#ok(acceptConnection, { projectId, caller, params });
      return { caller, params };
    },
    'connections.block': async (projectId) => {
      const { ada, grace } = await this.#asked(projectId);
      return { caller: grace.caller, params: { userId: ada.caller.userId } };
    },
    'connections.unblock': async (projectId) => {
      const [ada, grace] = await this.#two(projectId);
      const call = { caller: ada.caller, params: { userId: grace.caller.userId } };
      await this.#ok(blockUser, { projectId, ...call });
      return call;
    },
    'collections.create-sub-collection': async (projectId) => ({
      ...(await this.#folder(projectId)),
      body: { collectionName: 'Sub' },
    }),
    'collections.rename': async (projectId) => ({
      ...(await this.#folder(projectId)),
      body: { name: 'New' },
    }),
    'collections.delete': (projectId) => this.#folder(projectId),
    'collections.add-entity': async (projectId) => ({
      ...(await this.#folder(projectId)),
      body: { entityId: 'post' },
    }),
    'collections.remove-entity': async (projectId) => {
      const { caller, params } = await this.#folder(projectId);
      await this.#ok(addEntity, { projectId, caller, params, body: { entityId: 'post' } });
      return { caller, params: { ...params, entityId: 'post' } };
    },
    'notifications.mark-as-read': async (projectId) => {
      const { caller, notificationId } = await this.#notified(projectId);
      return { caller, params: { notificationId } };
    },
    'notifications.mark-all-as-read': async (projectId) => ({
      caller: (await this.#notified(projectId)).caller,
    }),
  };

  async #ok<T>(spec: OperationSpec, call: OperationCall): Promise<T> {
    const { status, text, body } = await callOperation(this.#bus, spec, call);
    if (status !== spec.status) throw new Error(`${spec.name} answered ${status}: ${text}`);
    return body;
  }

  async #user(projectId: string) {
    const [email, password] = [`${randomUUID()}@example.com`, randomUUID()];
    const { user, accessToken } = await this.#ok<Session>(signUp, { projectId, body: { email, password } });
    const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
    return { caller: { ...callerOf(user.id), sessionId: claims.sid as string }, email, password };
  }

  async #two(projectId: string) {
    return [await this.#user(projectId), await this.#user(projectId)] as const;
  }

  async #asked(projectId: string) {
    const [ada, grace] = await this.#two(projectId);
    const call = { projectId, caller: ada.caller, params: { userId: grace.caller.userId } };
    const { id } = await this.#ok<{ id: string }>(requestConnection, call);
    return { ada, grace, id };
  }

  async #answering(projectId: string) {
    const { grace, id } = await this.#asked(projectId);
    return { caller: grace.caller, params: { connectionId: id } };
  }

  async #folder(projectId: string) {
    const { caller } = await this.#user(projectId);
    const root = await this.#ok<{ id: string }>(getRootCollection, { projectId, caller });
    const call = { projectId, caller, params: { collectionId: root.id }, body: { collectionName: 'Folder' } };
    const { id } = await this.#ok<{ id: string }>(createSubCollection, call);
    return { caller, params: { collectionId: id } };
  }

  async #notified(projectId: string) {
    const { grace } = await this.#asked(projectId);
    const { caller } = grace;
    const first = async () => {
      const { data } = await this.#ok<{ data: { id: string }[] }>(listNotifications, { projectId, caller });
      return data[0]?.id;
    };
    return { caller, notificationId: await waitFor(first, { what: 'a notification' }) };
  }
}
