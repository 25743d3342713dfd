import { request } from 'node:http';
import { finished } from 'node:stream/promises';
import { residentBytes } from '../processes.ts';

/** The largest rise of each process's memory above its level at rest, in MiB. */
export interface Held {
  gateway: number;
  storage: number;
}

const everyMs = 10;
const settleMs = 3_000;

/** Runs `work`, and measures how far the memory of each process rises during the work. */
export async function heldDuring(
  pids: Readonly<Record<keyof Held, number>>,
  work: () => Promise<void>,
): Promise<Held> {
  const names = ['gateway', 'storage'] as const;
  // Processes release the memory of earlier work only after a while. So this function waits before it measures the level at
  // rest.
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const before = names.map((name) => residentMib(pids[name]));
  const most = [...before];
  const timer = setInterval(() => {
    for (const [at, name] of names.entries()) most[at] = Math.max(most[at] ?? 0, residentMib(pids[name]));
  }, everyMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  const [gateway = 0, storage = 0] = most.map((one, at) => one - (before[at] ?? 0));
  return { gateway, storage };
}

/** Sends a form of `size` bytes piece by piece, and resolves with the status. */
export async function uploadPiecewise(
  url: string,
  { path, token, size }: { path: string; token: string; size: number },
): Promise<number> {
  const boundary = 'the-boundary';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const piece = Buffer.alloc(64 * 1024, 'x');
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}${path}`,
      {
        method: 'POST',
        agent: false,
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': `multipart/form-data; boundary=${boundary}`,
          'Content-Length': head.length + size + tail.length,
        },
      },
      (incoming) => {
        incoming.resume();
        finished(incoming).then(() => resolve(incoming.statusCode ?? 0), reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.write(head);
    let left = size;
    const more = () => {
      while (left > 0) {
        const next = piece.subarray(0, Math.min(left, piece.length));
        left -= next.length;
        if (!outgoing.write(next)) return void outgoing.once('drain', more);
      }
      outgoing.end(tail);
    };
    more();
  });
}

function residentMib(pid: number): number {
  return residentBytes(pid) / 1024 / 1024;
}
