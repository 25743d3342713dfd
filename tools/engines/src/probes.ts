import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectEncrypted } from 'node:tls';
import type { Engine, Probe } from './specs.ts';

/** The ports of an engine on this machine. `monitor` is NATS's HTTP port. */
export interface EnginePorts {
  client: number;
  monitor?: number;
}

/** Asks an engine once whether it is ready. Also resolves with `false` if the engine does not answer within two seconds. */
export async function isReady(engine: Engine, ports: EnginePorts, probe?: Probe): Promise<boolean> {
  const { client: port } = ports;
  if (engine === 'redis') {
    const auth = probe?.auth ? `AUTH ${probe.auth}\r\n` : '';
    return (await ask(port, Buffer.from(`${auth}PING\r\n`), '+PONG\r\n', probe)) !== '';
  }
  // The answer ends with the field `ok` and its value 1, as a double. MongoDB and FerretDB both answer this ping without a
  // sign-in.
  if (engine === 'mongo') return (await ask(port, mongoPing(), 'ok\0\0\0\0\0\0\0\xf0\x3f', probe)) !== '';
  // NATS greets clients before JetStream has recovered. Its health page reports success only after the recovery.
  const signal = AbortSignal.timeout(2_000);
  const health = await fetch(`http://127.0.0.1:${ports.monitor}/healthz`, { signal }).catch(() => undefined);
  await health?.body?.cancel();
  // NATS sends its greeting before the connection is encrypted, so this request needs no `probe`.
  return health?.ok === true && (await ask(port, Buffer.alloc(0), '\r\n')).startsWith('INFO ');
}

/**
 * Waits until an engine is ready.
 * @throws Error if the engine is not ready after `limitMs`, or immediately if `alive` reports that the engine has ended.
 */
export async function untilReady(
  engine: Engine,
  ports: EnginePorts,
  options: { limitMs?: number; alive?: () => Promise<boolean>; probe?: Probe | undefined } = {},
): Promise<void> {
  const { limitMs = 60_000, alive = async () => true, probe } = options;
  const deadline = performance.now() + limitMs;
  for (let tries = 1; !(await isReady(engine, ports, probe)); tries++) {
    if (tries % 10 === 0 && !(await alive())) throw new Error(`${engine} ended while it was starting`);
    if (performance.now() > deadline) throw new Error(`${engine} is not ready after ${limitMs / 1000} s`);
    await sleep(100);
  }
}

/** Sends bytes, and returns the answer up to `end` as Latin-1. Returns an empty string if `end` never comes. */
function ask(port: number, bytes: Buffer, end: string, probe?: Probe): Promise<string> {
  return new Promise((resolve) => {
    const to = { host: '127.0.0.1', port };
    const socket = probe ? connectEncrypted({ ...to, ca: probe.ca }) : connect(to);
    let answer = '';
    const finish = (result: string) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(2_000, () => finish(''));
    socket.on('error', () => finish(''));
    socket.on('close', () => finish(''));
    socket.on(probe ? 'secureConnect' : 'connect', () => socket.write(bytes));
    socket.on('data', (data) => {
      answer += data.toString('latin1');
      if (answer.includes(end)) finish(answer);
    });
  });
}

// The bytes of the message {ping: 1, $db: 'admin'} (MongoDB wire protocol, OP_MSG). They are written out, so that probing needs no
// driver.
function mongoPing(): Buffer {
  const fields = Buffer.concat([
    Buffer.from('\x10ping\0\x01\0\0\0', 'latin1'),
    Buffer.from('\x02$db\0\x06\0\0\0admin\0', 'latin1'),
    Buffer.from([0]),
  ]);
  const body = Buffer.alloc(25 + fields.length);
  [body.length, 1, 0, 2013, 0].forEach((word, i) => {
    body.writeInt32LE(word, i * 4);
  });
  body.writeInt32LE(fields.length + 4, 21);
  fields.copy(body, 25);
  return body;
}
