import type { Bus } from '@kith/bus';
import { createProject, type OwnUser, type Session, signUp } from '@kith/contracts';
import type { Caller } from '@kith/service';
import { callerOf as newCaller } from '@kith/testing';
import { decodeJwt } from 'jose';
import { call } from './call.ts';

export const password = 'correct horse battery staple';

let count = 0;

/** Makes a project. */
export async function makeProject(bus: Bus): Promise<string> {
  const { body } = await call(bus, createProject, { body: { name: 'Test' } });
  return body.id;
}

/** Signs a user up, with an e-mail address that no other user has. */
export async function signUpUser(
  bus: Bus,
  projectId: string,
  fields: Record<string, unknown> = {},
): Promise<Session & { user: OwnUser & { email: string } }> {
  count += 1;
  const body = { email: `user${count}@example.org`, password, ...fields };
  const answer = await call(bus, signUp, { projectId, body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}

/** The caller that a gateway makes from a user's token. */
export function callerOf(user: { id: string; role: string }): Caller {
  return newCaller(user.id, user.role);
}

/** The caller that a gateway makes from a session's access token. */
export function callerOfSession({ accessToken, user }: Pick<Session, 'accessToken' | 'user'>): Caller {
  return { ...callerOf(user), sessionId: sessionIdOf(accessToken) };
}

/** The session to which an access token belongs. */
export function sessionIdOf(accessToken: string): string {
  return String(decodeJwt(accessToken).sid);
}
