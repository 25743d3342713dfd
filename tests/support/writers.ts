import type { Call } from '@kith/platform';
import { createPeople, type TestUser, waitFor } from '@kith/testing';
import { expect } from 'vitest';
import { operatorToken } from './moved-installation.ts';

/** Somebody who has signed up, is connected with the one whom all ask, and has saved something: each was answered. */
export interface Newcomer extends TestUser {
  entityId: string;
}

/** People who sign up, ask one and the same person and save things, one after the other, several at a time. */
export class Writers implements AsyncDisposable {
  /** Those whose changes were answered. */
  readonly acknowledged: Newcomer[] = [];
  readonly #popular: TestUser;
  readonly #call: Call;
  readonly #writing: Promise<void>[];
  #isStopped = false;

  private constructor(call: Call, popular: TestUser, atOnce: number) {
    this.#call = call;
    this.#popular = popular;
    this.#writing = Array.from({ length: atOnce }, () => this.#write());
  }

  static async start(call: Call, atOnce = 3): Promise<Writers> {
    const people = createPeople(call, operatorToken);
    return new Writers(call, await people.createUser((await people.createProject('Writers')).id), atOnce);
  }

  async #write(): Promise<void> {
    const people = createPeople(this.#call, operatorToken);
    for (let n = 0; !this.#isStopped; n++) {
      const user = await people.createUser(this.#popular.projectId, { name: `Newcomer ${n}` });
      await people.connect(user, this.#popular);
      const { id } = await this.#as<{ id: string }>(user, 'GET', '/collections/root');
      const entityId = `thing ${n}`;
      await this.#as(user, 'POST', `/collections/${id}/entities`, { entityId });
      this.acknowledged.push({ ...user, entityId });
    }
  }

  /** Sees to it that a platform has all that these have done, and that what it counts is what it lists. */
  async expectKept(call: Call, some: readonly Newcomer[]): Promise<void> {
    const { projectId, id, accessToken: token } = this.#popular;
    const scope = `/v7/${projectId}`;
    for (const user of some) {
      const as = { token: user.accessToken };
      const connection = await call('GET', `${scope}/users/${id}/connection`, as);
      expect(connection).toMatchObject({ status: 'connected' });
      const path = `${scope}/entities/is-entity-saved?entityId=${encodeURIComponent(user.entityId)}`;
      expect(await call('GET', path, as)).toMatchObject({ saved: true });
    }
    const { count } = await call<{ count: number }>('GET', `${scope}/connections/count`, { token });
    const listed = new Set<string>();
    for (let page = 1; ; page++) {
      const list = await call<{ connections: { connectedUser: { id: string } }[] }>(
        'GET',
        `${scope}/connections?limit=100&page=${page}`,
        { token },
      );
      for (const { connectedUser } of list.connections) listed.add(connectedUser.id);
      if (list.connections.length < 100) break;
    }
    expect(listed.size).toBe(count);
    expect(some.filter((user) => !listed.has(user.id))).toEqual([]);
    // Every request was told once, of these by now or soon.
    const told = () => this.#askedBy(call);
    await waitFor(async () => (await told()).length >= listed.size, {
      what: 'a notification of each request',
    });
    const counts = Map.groupBy(await told(), (id) => id);
    expect(some.map(({ id: asker }) => counts.get(asker)?.length)).toEqual(some.map(() => 1));
  }

  /** Who has asked the one whom all ask, by the notifications of it. */
  async #askedBy(call: Call): Promise<string[]> {
    const { projectId, accessToken: token } = this.#popular;
    const ids: string[] = [];
    for (let page = 1; ; page++) {
      const { data } = await call<{ data: { type: string; metadata: { initiatorId: string } }[] }>(
        'GET',
        `/v7/${projectId}/app-notifications?limit=50&page=${page}`,
        { token },
      );
      ids.push(
        ...data.filter(({ type }) => type === 'connection-request').map((one) => one.metadata.initiatorId),
      );
      if (data.length < 50) return ids;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#writing);
  }

  #as<T>(user: TestUser, method: string, path: string, body?: unknown): Promise<T> {
    return this.#call<T>(method, `/v7/${user.projectId}${path}`, {
      token: user.accessToken,
      ...(body ? { body } : {}),
    });
  }
}
