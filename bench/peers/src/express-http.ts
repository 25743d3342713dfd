// A gateway with Express and http-proxy-middleware in front of an HTTP service. It also uses jose and rate-limiter-flexible.
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { Redis } from 'ioredis';
import { importSPKI, jwtVerify } from 'jose';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type Claims, environment, ready } from './environment.ts';

const { limit, windowSeconds, issuer, audience } = environment;
const limiter = new RateLimiterRedis({
  storeClient: new Redis(environment.redisUrl),
  keyPrefix: 'express-http',
  points: limit,
  duration: windowSeconds,
});
const key = await importSPKI(environment.publicKey, 'RS256');

const app = express();
app.set('trust proxy', 1);

async function limited(request: Request, response: Response, next: NextFunction) {
  try {
    await limiter.consume(`${request.params.projectId}:${request.ip}`);
    next();
  } catch {
    response.status(429).json({ error: 'Too many requests' });
  }
}

async function authenticated(request: Request, response: Response, next: NextFunction) {
  try {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const { payload } = await jwtVerify<Claims>(token, key, { issuer, audience, algorithms: ['RS256'] });
    if (payload.projectId !== request.params.projectId)
      return response.status(403).json({ error: 'Forbidden' });
    request.headers['x-user'] = payload.sub;
    next();
  } catch {
    response.status(401).json({ error: 'Unauthorized' });
  }
}

const proxy = createProxyMiddleware({
  target: environment.upstreamUrl,
  agent: new Agent({ keepAlive: true }),
});
app.get('/:projectId/connections', limited, authenticated, proxy);

const server = app.listen(0, '127.0.0.1', () => ready((server.address() as AddressInfo).port));
