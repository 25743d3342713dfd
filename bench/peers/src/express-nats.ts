// A gateway with Express, jose, rate-limiter-flexible and NATS, written as their manuals recommend.
import type { AddressInfo } from 'node:net';
import { connect } from '@nats-io/transport-node';
import express, { type NextFunction, type Request, type Response } from 'express';
import { Redis } from 'ioredis';
import { importSPKI, jwtVerify } from 'jose';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type Claims, environment, ready } from './environment.ts';

const { limit, windowSeconds, issuer, audience } = environment;
const nc = await connect({ servers: environment.natsUrl });
const limiter = new RateLimiterRedis({
  storeClient: new Redis(environment.redisUrl),
  keyPrefix: 'express-nats',
  points: limit,
  duration: windowSeconds,
});
const key = await importSPKI(environment.publicKey, 'RS256');

const app = express();
app.set('trust proxy', 1);
app.use(express.json());

async function limited(request: Request, response: Response, next: NextFunction) {
  try {
    const { remainingPoints } = await limiter.consume(`${request.params.projectId}:${request.ip}`);
    response.set('X-RateLimit-Limit', String(limit));
    response.set('X-RateLimit-Remaining', String(remainingPoints));
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
    response.locals.user = payload;
    next();
  } catch {
    response.status(401).json({ error: 'Unauthorized' });
  }
}

app.get('/:projectId/connections', limited, authenticated, async (request, response) => {
  const question = {
    userId: response.locals.user.sub,
    projectId: request.params.projectId,
    query: request.query,
  };
  const reply = await nc.request(`${environment.subject}.json`, JSON.stringify(question), { timeout: 5_000 });
  response.json(reply.json());
});

const server = app.listen(0, '127.0.0.1', () => ready((server.address() as AddressInfo).port));
