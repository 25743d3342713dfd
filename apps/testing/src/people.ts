import { randomBytes } from 'node:crypto';
import type { Collection, OwnUser, Project, Session } from '@kith/contracts';
import type { Call } from '@kith/platform';

/** A signed-up user of a test project. */
export interface TestUser {
  id: string;
  projectId: string;
  email: string;
  password: string;
  accessToken: string;
  refreshToken: string;
  user: OwnUser;
}

/** Functions that make the users and objects that a test needs before it begins. */
export interface People {
  /** Registers a project. Its default name is `Test`. */
  createProject(name?: string): Promise<Project>;
  /** Signs up a user with the given fields. By default, `email` is unique and `password` is random. */
  createUser(projectId: string, profile?: Record<string, unknown>): Promise<TestUser>;
  /** Makes `from` send a request to `to`, and makes `to` accept it. Resolves with the connection's id. */
  connect(from: TestUser, to: TestUser, message?: string): Promise<string>;
  /** Creates a collection below the user's root collection. */
  createCollection(user: TestUser, name: string): Promise<Collection>;
}

/** @param administer Calls operators' endpoints, if they have a port of their own. */
export function createPeople(call: Call, operatorToken: string, administer: Call = call): People {
  return {
    createProject: (name = 'Test') =>
      administer('POST', '/admin/projects', { token: operatorToken, body: { name } }),
    async createUser(projectId, profile = {}) {
      const body = {
        email: `u${randomBytes(8).toString('hex')}@example.com`,
        password: randomBytes(9).toString('base64url'),
        ...profile,
      };
      const session = await call<Session>('POST', `/v7/${projectId}/auth/sign-up`, { body });
      const { user, accessToken, refreshToken } = session;
      const email = user.email ?? body.email;
      return { id: user.id, projectId, email, password: body.password, accessToken, refreshToken, user };
    },
    async connect(from, to, message) {
      const scope = `/v7/${from.projectId}`;
      const request = await call<{ id: string }>('POST', `${scope}/users/${to.id}/connection`, {
        token: from.accessToken,
        body: message === undefined ? {} : { message },
      });
      await call('PATCH', `${scope}/connections/${request.id}/accept`, { token: to.accessToken });
      return request.id;
    },
    async createCollection(user, name) {
      const scope = `/v7/${user.projectId}/collections`;
      const token = user.accessToken;
      const root = await call<Collection>('GET', `${scope}/root`, { token });
      return call('POST', `${scope}/${root.id}/sub-collections`, { token, body: { collectionName: name } });
    },
  };
}
