import type { OperationSpec } from '@kith/contracts';
import type { z } from 'zod';

/** A valid value for every body field in the contracts. A new field needs a line here. */
const values: Record<string, unknown> = {
  collectionName: 'Sample',
  entityId: 'entity-1',
  message: 'Hello',
  metadata: { sample: true },
  name: 'Sample',
  username: 'sample.name',
  avatar: 'https://example.com/a.png',
  bio: 'Sample',
  location: 'Sample',
  birthdate: '1990-01-02',
  password: 'correct horse battery',
  newPassword: 'correct horse battery staple',
  refreshToken: 'sample',
  avatarFileId: null,
  bannerFileId: null,
  sizes: '{"small":8}',
  quality: '80',
  type: 'totp',
  rpId: 'example.com',
  code: null,
  passkey: null,
  mode: 'code',
  redirectUrl: null,
  token: 'sample',
  newEmail: 'new.sample@example.com',
  requestsFrom: 'everyone',
  showsConnections: true,
  types: { 'connection-request': true },
};

/** A body that passes an operation's schema. Throws for a field that has no sample. */
export function sampleBody(operation: OperationSpec): Record<string, unknown> {
  const shape = (operation.body as z.ZodObject).shape ?? {};
  return Object.fromEntries(
    Object.keys(shape).map((field) => {
      if (!(field in values))
        throw new Error(`tests/support/samples.ts has no sample of the field ${field}.`);
      return [field, values[field]];
    }),
  );
}

/** A query that passes an operation's schema. */
export function sampleQuery(operation: OperationSpec): string {
  const required = Object.entries<z.ZodType>(operation.query.shape).filter(
    ([, field]) => !field.safeParse(undefined).success,
  );
  const query = new URLSearchParams(
    Object.fromEntries(required.map(([name]) => [name, name === 'username' ? 'sample.name' : 'sample'])),
  );
  return query.size > 0 ? `?${query}` : '';
}
