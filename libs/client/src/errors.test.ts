import { expect, it } from 'vitest';
import { isKithError, KithError } from './errors.ts';

it('isKithError recognises errors of another copy of the package, and no other errors', async () => {
  // A second copy of the module: an application and `@kith/testing` may have installed different versions.
  const address = `${new URL('./errors.ts', import.meta.url)}?another`;
  const other = (await import(/* @vite-ignore */ address)) as typeof import('./errors.ts');
  const error = new other.KithError('No.', { status: 404, code: 'collection/not-found' });
  expect(error).not.toBeInstanceOf(KithError);
  expect(isKithError(error)).toBe(true);
  expect(isKithError(error, 'collection/not-found')).toBe(true);
  expect(isKithError(error, 'user/not-found')).toBe(false);
  for (const thrown of [undefined, null, 'KithError', 5, {}, new Error('No.')])
    expect(isKithError(thrown)).toBe(false);
});
