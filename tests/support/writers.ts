import type { Call } from '@kith/platform';
import { createPeople, type TestUser, waitFor } from '@kith/testing';
import { expect } from 'vitest';
import { operatorToken } from './moved-installation.ts';

/** Somebody who has signed up, is connected with the popular user, and has saved something. All these requests were answered. */
export interface Newcomer extends TestUser {
  entityId: string;
}

/**
 * Several writers at the same time. Each writer makes new people, one after the other. Each person signs up, asks to connect with the
 * same popular user, and saves something.
 */
export class Writers implements AsyncDisposable {
  /** The people whose requests have all been answered. */
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

  /** Checks that a platform has everything that these people have done, and that it counts as many connections as it lists. */
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
    // Each request to connect causes exactly one notification. Some of these notifications may still be on their way.
    const told = () => this.#askedBy(call);
    await waitFor(async () => (await told()).length >= listed.size, {
      what: 'a notification of each request',
    });
    const counts = Map.groupBy(await told(), (id) => id);
    expect(some.map(({ id: asker }) => counts.get(asker)?.length)).toEqual(some.map(() => 1));
  }

  /** The ids of the users who have asked the popular user to connect. The ids come from the notifications. */
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
