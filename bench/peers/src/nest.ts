// A NestJS gateway in front of a NATS microservice. It uses a throttler on Redis, a JWT guard, and ClientProxy.
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Inject,
  Injectable,
  Module,
  Param,
  Query,
  Req,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { type ClientProxy, ClientsModule, Transport } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { Redis } from 'ioredis';
import { type Claims, environment, ready } from './environment.ts';

type Identified = Request & { user: Claims };

@Injectable()
class LimitGuard extends ThrottlerGuard {
  protected override async getTracker(request: Request): Promise<string> {
    return `${request.params.projectId}:${request.ip}`;
  }
}

@Injectable()
class TokenGuard implements CanActivate {
  constructor(@Inject(JwtService) private readonly tokens: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Identified>();
    try {
      request.user = await this.tokens.verifyAsync<Claims>(
        request.headers.authorization?.replace(/^Bearer /, '') ?? '',
      );
    } catch {
      throw new UnauthorizedException();
    }
    if (request.user.projectId !== request.params.projectId) throw new ForbiddenException();
    return true;
  }
}

@Controller()
@UseGuards(LimitGuard, TokenGuard)
class ConnectionsController {
  constructor(@Inject('CONNECTIONS') private readonly connections: ClientProxy) {}

  @Get(':projectId/connections')
  list(@Req() request: Identified, @Param('projectId') projectId: string, @Query() query: object) {
    return this.connections.send('connections.list', { userId: request.user.sub, projectId, query });
  }
}

@Module({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [{ ttl: environment.windowSeconds * 1_000, limit: environment.limit }],
      storage: new ThrottlerStorageRedisService(new Redis(environment.redisUrl)),
    }),
    JwtModule.register({
      publicKey: environment.publicKey,
      verifyOptions: {
        algorithms: ['RS256'],
        issuer: environment.issuer,
        audience: environment.audience,
      },
    }),
    ClientsModule.register([
      { name: 'CONNECTIONS', transport: Transport.NATS, options: { servers: [environment.natsUrl] } },
    ]),
  ],
  controllers: [ConnectionsController],
})
class GatewayModule {}

const app = await NestFactory.create<NestExpressApplication>(GatewayModule, { logger: ['error', 'warn'] });
app.set('trust proxy', 1);
await app.listen(0, '127.0.0.1');
ready((app.getHttpServer().address() as AddressInfo).port);
