// A gateway with Fastify and Fastify's own plugins in front of an HTTP service. It caches verified tokens, and counts requests
// towards their limits in Redis.
import type { AddressInfo } from 'node:net';
import proxy from '@fastify/http-proxy';
import jwt from '@fastify/jwt';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyRequest } from 'fastify';
import { Redis } from 'ioredis';
import { type Claims, environment, ready } from './environment.ts';

const app = Fastify({ trustProxy: 1 });
await app.register(rateLimit, {
  max: environment.limit,
  timeWindow: environment.windowSeconds * 1_000,
  redis: new Redis(environment.redisUrl, { connectTimeout: 500, maxRetriesPerRequest: 1 }),
  keyGenerator: (request) => `${projectOf(request)}:${request.ip}`,
});
await app.register(jwt, {
  secret: { public: environment.publicKey },
  verify: {
    algorithms: ['RS256'],
    allowedIss: environment.issuer,
    allowedAud: environment.audience,
    cache: 10_000,
  },
});
await app.register(proxy, {
  upstream: environment.upstreamUrl,
  prefix: '/:projectId/connections',
  rewritePrefix: '/connections',
  httpMethods: ['GET'],
  preHandler: async (request, reply) => {
    const { projectId } = await request.jwtVerify<Claims>();
    if (projectId !== projectOf(request)) return reply.code(403).send({ error: 'Forbidden' });
  },
  replyOptions: {
    rewriteRequestHeaders: (request, headers) => ({
      ...headers,
      'x-user': ((request as FastifyRequest).user as Claims).sub,
    }),
  },
});
await app.listen({ port: 0, host: '127.0.0.1' });
ready((app.server.address() as AddressInfo).port);

function projectOf(request: FastifyRequest): string {
  return (request.params as { projectId: string }).projectId;
}
