// The NATS microservice behind the NestJS gateway.
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, type MicroserviceOptions, Payload, Transport } from '@nestjs/microservices';
import { environment } from './environment.ts';

const page = JSON.parse(process.env.PAGE ?? '');

@Controller()
class ConnectionsController {
  @MessagePattern('connections.list')
  list(@Payload() { userId }: { userId: string }) {
    return { ...page, viewer: userId };
  }
}

@Module({ controllers: [ConnectionsController] })
class ConnectionsModule {}

const service = await NestFactory.createMicroservice<MicroserviceOptions>(ConnectionsModule, {
  transport: Transport.NATS,
  options: { servers: [environment.natsUrl], queue: 'connections' },
  logger: ['error', 'warn'],
});
await service.listen();
process.send?.({ type: 'ready' });
