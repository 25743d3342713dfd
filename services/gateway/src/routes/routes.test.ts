import { StartError } from '@kith/base';
import { type OperationSpec, operation } from '@kith/contracts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RouteTable } from './routes.ts';

describe('a bad row', () => {
  const good = operation({
    name: 'collections.test',
    summary: 'Try',
    feature: 'collection',
    method: 'GET',
    path: '/things/:thingId',
    scope: 'project',
    auth: 'user',
    limit: { max: 1, windowSeconds: 1 },
    params: z.object({ thingId: z.string() }),
    query: z.object({}),
    body: z.object({}),
    output: z.null(),
    status: 200,
    errors: [],
  });
  const rows: [string, Partial<OperationSpec>][] = [
    ['a path with an upper-case letter', { path: '/Things/:thingId' }],
    ['an empty segment', { path: '/things//:thingId' }],
    ['a trailing slash', { path: '/things/:thingId/' }],
    ['a leading parameter', { path: '/:thingId' }],
    ['a path like a version', { path: '/v7/:thingId' }],
    ['a path like a prefix', { path: '/api/:thingId' }],
    ['a path of the reference', { scope: 'none', path: '/docs/:thingId' }],
    ['a path of the document', { scope: 'none', path: '/openapi.json', params: z.object({}) }],
    ['a parameter without a schema', { path: '/things/:other' }],
    ['a schema without a parameter', { path: '/things' }],
    ['a name with a space', { name: 'collections.a b' }],
    ['a limit of 0', { limit: { max: 0, windowSeconds: 300 } }],
  ];
  it.each(rows)('stops the start: %s', (_, change) => {
    expect(() => new RouteTable([good])).not.toThrow();
    expect(() => new RouteTable([{ ...good, ...change }])).toThrow(StartError);
  });

  it('allows the first segments of the reference in paths of projects', () => {
    expect(() => new RouteTable([{ ...good, path: '/docs/:thingId' }])).not.toThrow();
  });

  it('stops the start if two operations have one address', () => {
    const twin: OperationSpec = {
      ...good,
      name: 'collections.twin',
      path: '/things/:id',
      params: z.object({ id: z.string() }),
    };
    expect(() => new RouteTable([good, twin])).toThrow(/collections.twin.*collections.test/);
    expect(() => new RouteTable([good, { ...twin, method: 'POST' }])).not.toThrow();
  });
});
