import { randomUUID } from 'node:crypto';
import {
  checkUsername,
  createFile,
  createImage,
  deleteFile,
  deleteUser,
  exportUser,
  getUser,
  getUserByForeignId,
  getUserByUsername,
  listUserConnections,
  type OwnUser,
  publicUser,
  requestNewAccessToken,
  suggestUsers,
  updateProject,
  updateUser,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { expect, it } from 'vitest';
import { keyPair } from '../support/keys.ts';
import { filePart, smallPng } from '../support/multipart.ts';
import { externalUser } from '../support/surface/external-user.ts';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { features } from '../support/surface/parts.ts';
import { badProfile, hiddenFromStrangers, profile } from '../support/surface/profiles.ts';
import { surfaceSuite } from '../support/surface/suite.ts';
import { userWithPasskey } from '../support/surface/user-with-passkey.ts';

/** `shown` is what other users of the project see of a user. `cardOf` is what callers without a token of the project see. */
const shown = (user: OwnUser) => publicUser.parse(user);
const cardOf = (user: OwnUser) => ({ ...shown(user), ...hiddenFromStrangers });
const self = ({ id: userId, accessToken: token }: TestUser) => ({ params: { userId }, token });

export const users = surfaceSuite('users', (world) => {
  it('every operation that needs a token checks it before all else', () =>
    refusesStrangers(world, features.users.operations));

  it('a user with a second factor needs a step-up to export or delete the account', async () => {
    const ada = await userWithPasskey(world);
    await world.refused(exportUser, self(ada), 'auth/step-up-required');
    await world.refused(deleteUser, self(ada), 'auth/step-up-required');
    await world.ok(getUser, self(ada));
  });

  it('a user sees their full profile, other users of the project see the public profile, and strangers see a card', async () => {
    const ada = await world.user({ ...profile, username: 'shown.ada' });
    const other = await world.user();
    const params = { userId: ada.id };
    const strangers = [undefined, 'null', world.stranger.accessToken];
    for (const token of [...strangers, other.accessToken]) {
      const { body } = await world.ok(getUser, { params, ...(token ? { token } : {}) });
      expect(body).toEqual(token === other.accessToken ? shown(ada.user) : cardOf(ada.user));
      expect(Object.keys(body)).not.toContain('email');
    }
    const upper = { ...self(ada), params: { userId: ada.id.toUpperCase() } };
    expect((await world.ok(getUser, upper)).body).toEqual(ada.user);
    for (const userId of ['nonsense', randomUUID(), world.stranger.id]) {
      await world.refused(getUser, { params: { userId } }, 'user/not-found');
    }
  });

  it('a user is found by username in any case', async () => {
    const ada = await world.user({ ...profile, username: 'Find.Ada' });
    const found = await world.ok(getUserByUsername, { query: 'username=fIND.aDA' });
    expect(found.body).toEqual(cardOf(ada.user));
    const own = await world.ok(getUserByUsername, { query: 'username=find.ada', token: ada.accessToken });
    expect(own.body).toEqual(ada.user);
    for (const query of ['username=', 'username=nobody.here', `username=${'x'.repeat(40)}`]) {
      await world.refused(getUserByUsername, { query }, 'user/not-found');
    }
    await world.refused(getUserByUsername, {}, 'user/invalid-query', { field: 'username' });
    await refusesTwice(world, getUserByUsername, {});
  });

  it('a user is found by foreign id', async () => {
    const { user, accessToken: token } = await externalUser(world, keyPair(), {
      ...{ id: 'their-1', name: 'Ada', location: 'Here', avatar: 'nowhere', bio: 'Counts' },
    });
    // The platform leaves out fields of the token that are invalid, such as this `avatar`.
    expect(user).toMatchObject({ location: 'Here', avatar: null, bio: 'Counts' });
    const found = await world.ok(getUserByForeignId, { query: 'foreignId=their-1' });
    // A stranger does not get foreign ids. But if the caller has asked by the foreign id, the answer contains this id.
    expect(found.body).toEqual({ ...cardOf(user), foreignId: 'their-1' });
    expect(found.body).toMatchObject({ name: 'Ada', location: null });
    const { body: byId } = await world.ok(getUser, { params: { userId: user.id } });
    expect(byId).toMatchObject({ name: 'Ada', foreignId: null });
    const own = await world.ok(getUserByForeignId, { query: 'foreignId=their-1', token });
    expect(own.body).toEqual({ ...user, email: null });
    for (const query of ['foreignId=', 'foreignId=THEIR-1', 'foreignId=their-2']) {
      await world.refused(getUserByForeignId, { query }, 'user/not-found');
    }
    await world.refused(getUserByForeignId, {}, 'user/invalid-query', { field: 'foreignId' });
    await refusesTwice(world, getUserByForeignId, {});
  });

  it('suggestions are a bare array of at most five users; users whose name begins with the query come first', async () => {
    const names = ['Xan 1', 'Xan 2', 'Xan 3', 'Xan 4', 'Xan 5', 'Alexandra'];
    for (const name of names) await world.user({ name, location: 'Xanadu' });
    const { body } = await world.ok(suggestUsers, { query: 'query=%20xAN%20' });
    expect(new Set(body.map(({ location }) => location))).toEqual(new Set([null]));
    const { accessToken: token } = await world.user();
    const whole = await world.ok(suggestUsers, { query: 'query=xan', token });
    expect(whole.body[0]).toMatchObject({ location: 'Xanadu' });
    expect(body.map(({ name }) => name).sort()).toEqual(names.slice(0, 5));
    const [one] = (await world.ok(suggestUsers, { query: 'query=lexand' })).body;
    expect(one?.name).toBe('Alexandra');
    for (const query of ['query=', 'query=nobody-is-called-so']) {
      expect((await world.ok(suggestUsers, { query })).body).toEqual([]);
    }
    for (const query of ['', `query=${'x'.repeat(101)}`]) {
      await world.refused(suggestUsers, { query }, 'user/invalid-query', { field: 'query' });
    }
    await refusesTwice(world, suggestUsers, {});
  });

  it('a username is available until somebody has it', async () => {
    const ask = async (username: string) =>
      (await world.ok(checkUsername, { query: `username=${username}` })).body;
    expect(await ask('Free.Name')).toEqual({ available: true });
    await world.user({ username: 'free.name' });
    expect(await ask('Free.Name')).toEqual({ available: false });
    for (const query of ['', 'username=ab', 'username=no%20spaces', `username=${'x'.repeat(31)}`]) {
      await world.refused(checkUsername, { query }, 'user/invalid-query', { field: 'username' });
    }
    await refusesTwice(world, checkUsername, {});
  });

  it('a profile’s pictures must be the user’s own images, and are removed when the images are deleted', async () => {
    const ada = await world.user();
    const given = self(ada);
    const token = ada.accessToken;
    const upload = async (by = token) =>
      (await world.ok(createImage, { token: by, parts: [filePart(smallPng)] })).body;
    const [one, other] = [await upload(), await upload()];
    const fields = { avatarFileId: one.fileId, bannerFileId: other.fileId };
    const { body } = await world.ok(updateUser, { ...given, body: fields });
    expect(body).toMatchObject({ ...fields, avatar: one.originalPath });
    expect((await world.ok(updateUser, { ...given, body: { bio: 'x' } })).body).toMatchObject(fields);
    const hers = await upload((await world.user()).accessToken);
    const plain = await world.ok(createFile, { token, parts: [filePart('no image')] });
    for (const field of ['avatarFileId', 'bannerFileId']) {
      for (const id of ['nonsense', 7, randomUUID(), hers.fileId, plain.body.fileId]) {
        await world.refused(updateUser, { ...given, body: { [field]: id } }, 'user/invalid-body', { field });
      }
    }
    const read = async () => (await world.ok(getUser, given)).body;
    await world.ok(deleteFile, { token, params: { fileId: one.fileId } });
    await waitFor(async () => (await read()).avatarFileId === null, { what: 'the removal of the avatar' });
    expect(await read()).toMatchObject({ avatar: null, avatarFileId: null, bannerFileId: other.fileId });
    const cleared = await world.ok(updateUser, { ...given, body: { bannerFileId: null } });
    expect(cleared.body.bannerFileId).toBeNull();
    const again = await world.ok(updateUser, { ...given, body: { avatarFileId: other.fileId } });
    expect(again.body.avatar).toBe(other.originalPath);
    const link = await world.ok(updateUser, { ...given, body: { avatar: 'https://example.com/a.png' } });
    expect(link.body).toMatchObject({ avatar: 'https://example.com/a.png', avatarFileId: null });
  });

  it('only the user can change a profile; fields are checked first, then the id, the owner, and taken names', async () => {
    const ada = await world.user();
    const other = await world.user({ username: 'taken.name' });
    const given = self(ada);
    const { body } = await world.ok(updateUser, {
      ...given,
      body: { ...profile, role: 'admin', reputation: 9, email: 'x@example.com', isVerified: true },
    });
    expect(body).toEqual({ ...ada.user, ...profile, updatedAt: expect.any(String) });
    expect((await world.ok(updateUser, { ...given, body: {} })).body).toEqual(body);
    const empty = Object.fromEntries(Object.keys(profile).map((field) => [field, null]));
    const emptied = { ...body, ...empty, metadata: {}, updatedAt: expect.any(String) };
    expect((await world.ok(updateUser, { ...given, body: empty })).body).toEqual(emptied);
    const wrapped = { update: { name: 'Wrapped', role: 'admin' } };
    const named = { ...emptied, name: 'Wrapped' };
    expect((await world.ok(updateUser, { ...given, body: wrapped })).body).toEqual(named);
    await world.refused(updateUser, { ...given, body: { update: { name: 7 } } }, 'user/invalid-body', {
      field: 'name',
    });
    await world.ok(updateUser, { ...given, body: { update: { name: null } } });

    for (const [field, value] of badProfile) {
      const wrong = { ...given, params: { userId: 'nonsense' }, body: { [field]: value } };
      await world.refused(updateUser, wrong, 'user/invalid-body', { field });
    }
    await world.refused(updateUser, { ...given, params: { userId: 'nonsense' } }, 'user/not-found');
    for (const userId of [other.id, world.stranger.id, randomUUID()]) {
      const body = { username: 'Taken.Name' };
      await world.refused(updateUser, { ...given, params: { userId }, body }, 'auth/forbidden');
    }
    const taken = { ...given, body: { name: 'Not stored', username: 'Taken.Name' } };
    await world.refused(updateUser, taken, 'DUPLICATE_USERNAME', { field: 'username' });
    expect((await world.ok(getUser, given)).body).toMatchObject({ name: null, username: null });
  });

  it('only the user can export all data about the user', async () => {
    const ada = await world.user({ name: 'Ada' });
    const grace = await world.user();
    await world.platform.connect(ada, grace, 'Hello');
    const collection = await world.platform.createCollection(ada, 'Mine');
    const given = self(ada);
    const { body, headers } = await world.ok(exportUser, given);
    expect(headers['content-disposition']).toBe(`attachment; filename="kith-export-${ada.id}.json"`);
    expect(body.user).toEqual(ada.user);
    expect(body.connections).toMatchObject([{ message: 'Hello', connectedUser: shown(grace.user) }]);
    expect(body.collections).toContainEqual(collection);
    await world.refused(exportUser, { ...given, params: { userId: 'nonsense' } }, 'user/not-found');
    for (const userId of [grace.id, world.stranger.id, randomUUID()]) {
      await world.refused(exportUser, { ...given, params: { userId } }, 'auth/forbidden');
    }
  });

  it('a project that restricts profiles to its users shows no profile to anybody else', async () => {
    const { id: projectId } = await world.platform.createProject('Private');
    const ada = await world.platform.createUser(projectId, { name: 'Ada', username: 'private.ada' });
    const other = await world.platform.createUser(projectId);
    const operator = { params: { projectId }, token: world.operatorToken };
    await world.ok(updateProject, { ...operator, body: { publicProfiles: 'none' } });
    const given = { projectId, params: { userId: ada.id } };
    const reads = [
      [getUser, given],
      [getUserByUsername, { projectId, query: 'username=private.ada' }],
      [getUserByForeignId, { projectId, query: 'foreignId=nobody' }],
      [suggestUsers, { projectId, query: 'query=ada' }],
    ] as const;
    // Waits until the gateways know of the change.
    await waitFor(() => world.refused(getUser, given, 'auth/unauthorized'), { what: 'the setting' });
    for (const [spec, asked] of reads) {
      for (const token of [undefined, 'null']) {
        await world.refused(spec, { ...asked, ...(token ? { token } : {}) }, 'auth/unauthorized');
      }
      await world.refused(spec, { ...asked, token: world.stranger.accessToken }, 'auth/forbidden');
    }
    expect((await world.ok(getUser, { ...given, token: other.accessToken })).body).toEqual(shown(ada.user));
  });

  it('a project can show full profiles, alone and in lists, to strangers', async () => {
    const { id: projectId } = await world.platform.createProject('Open');
    const [ada, grace] = [
      await world.platform.createUser(projectId, { location: 'London', metadata: { note: 1 } }),
      await world.platform.createUser(projectId, { name: 'Grace', birthdate: '1906-12-09' }),
    ];
    await world.platform.connect(ada, grace);
    const operator = { params: { projectId }, token: world.operatorToken };
    const seen = async () => {
      const one = await world.ok(getUser, { projectId, params: { userId: ada.id } });
      const query = 'query=grace';
      const [suggested] = (await world.ok(suggestUsers, { projectId, query })).body;
      const lists = { projectId, params: { userId: ada.id } };
      const [row] = (await world.ok(listUserConnections, lists)).body.connections;
      return [one.body, suggested, row?.connectedUser];
    };
    const all = [ada.user, grace.user, grace.user];
    expect(await seen()).toEqual(all.map(cardOf));
    // `true` is the older form of `all`.
    const { body } = await world.ok(updateProject, { ...operator, body: { publicProfiles: true } });
    expect(body.publicProfiles).toBe('all');
    const isWhole = async () => (await seen())[0]?.location === 'London';
    await waitFor(isWhole, { what: 'the setting' });
    expect(await seen()).toEqual(all.map(shown));
    await world.ok(updateProject, { ...operator, body: { publicProfiles: false } });
    const given = { projectId, params: { userId: ada.id } };
    for (const spec of [getUser, listUserConnections]) {
      await waitFor(() => world.refused(spec, given, 'auth/unauthorized'), { what: 'the setting' });
    }
  });

  it('only the user can delete an account, and nobody finds the account afterwards', async () => {
    const ada = await world.user({ username: 'gone.ada' });
    const other = await world.user();
    const given = self(ada);
    await world.refused(deleteUser, { ...given, params: { userId: 'nonsense' } }, 'user/not-found');
    for (const userId of [other.id, world.stranger.id, randomUUID()]) {
      await world.refused(deleteUser, { ...given, params: { userId } }, 'auth/forbidden');
    }
    await world.ok(deleteUser, given);
    await world.refused(getUser, { params: { userId: ada.id } }, 'user/not-found');
    await world.refused(getUserByUsername, { query: 'username=gone.ada' }, 'user/not-found');
    const body = { refreshToken: ada.refreshToken };
    await world.refused(requestNewAccessToken, { body }, 'auth/unauthorized');
    await waitFor(() => world.refused(deleteUser, given, 'auth/unauthorized'), { what: 'the revocation' });
    await world.ok(getUser, self(other));
  });
});
