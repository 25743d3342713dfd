import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { OpenConnections } from './open-connections.ts';

function connectionFrom(remoteAddress: string): Socket {
  return Object.assign(new EventEmitter(), { remoteAddress }) as Socket;
}

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ['fe80::1%eth0', 'fe80::2%eth0', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1', '::ffff:192.0.2.2'],
])(
  'connections from %s and %s belong to one client, a connection from %s to another client',
  (first, second, other) => {
    const connections = new OpenConnections(1);
    const open = connectionFrom(first);
    expect(connections.admit(open)).toBe(true);
    expect(connections.admit(connectionFrom(second))).toBe(false);
    expect(connections.admit(connectionFrom(other))).toBe(true);
    open.emit('close');
    expect(connections.admit(connectionFrom(second))).toBe(true);
  },
);
