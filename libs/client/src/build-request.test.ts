import { afterEach, describe, expect, it } from 'vitest';
import { buildRequest } from './build-request.ts';

const scopes = { url: 'https://api.example.org', projectUrl: 'https://api.example.org/v7/project' };
const list = { method: 'GET', path: '/connections', auth: 'user' } as const;
const size = Object.getOwnPropertyDescriptor(URLSearchParams.prototype, 'size') as PropertyDescriptor;

describe('the address of a call', () => {
  afterEach(() => {
    Object.defineProperty(URLSearchParams.prototype, 'size', size);
  });

  it('contains the query, even in browsers before 2023, where URLSearchParams has no size', () => {
    const input = { limit: 2, cursor: 'a b', query: undefined };
    const address = 'https://api.example.org/v7/project/connections?limit=2&cursor=a+b';
    expect(buildRequest(scopes, list, input).address).toBe(address);
    Reflect.deleteProperty(URLSearchParams.prototype, 'size');
    expect(buildRequest(scopes, list, input).address).toBe(address);
    expect(buildRequest(scopes, list, {}).address).toBe('https://api.example.org/v7/project/connections');
  });
});
