import type { TestPlatform, TestUser } from '@kith/testing';
import type { Control, Person } from './control.ts';
import type { FaultyProxy } from './proxy.ts';

/** Returns the actions that behaviours need, but that the client cannot do. */
export function serveControl(platform: TestPlatform, projectId: string, proxy: FaultyProxy): Control {
  const users = new Map<string, TestUser>();
  const userOf = ({ email }: Person) => users.get(email) as TestUser;
  let told = 0;
  return {
    async person(name = 'Ada') {
      const user = await platform.createUser(projectId, { name });
      users.set(user.email, user);
      const { email, password, accessToken, refreshToken } = user;
      return { email, password, session: { accessToken, refreshToken, user: user.user } };
    },
    async connect(from, to) {
      await platform.connect(userOf(from), userOf(to));
    },
    async request(from, to) {
      const path = `/v7/${projectId}/users/${userOf(to).id}/connection`;
      await platform.call('POST', path, { token: userOf(from).accessToken });
    },
    async suspend(person) {
      const path = `/admin/projects/${projectId}/users/${person.session.user.id}/suspend`;
      await platform.call('POST', path, { token: platform.operatorToken });
    },
    async fault(fault) {
      proxy.fault(fault);
    },
    async downFor(ms) {
      proxy.down();
      setTimeout(() => proxy.up(), ms);
    },
    async cut() {
      proxy.cut();
    },
    async seen() {
      const since = proxy.seen.slice(told);
      told = proxy.seen.length;
      return since;
    },
  };
}
