import { atLeast, atMost, figure, type Row, spread, table } from '../row.ts';
import { ratio } from '../summary.ts';
import { type FilesSample, measureFiles } from './row.ts';

/** Measures uploads and downloads of 10 MiB, and compares them with servers that only receive or send files. */
export const filesRow: Row = {
  name: 'files',
  title: 'Files of 10 MiB',
  isQuick: true,
  async measure({ engines, wrk, folder, isQuick, progress }) {
    const { mongodbUrl, natsUrl, redisUrl } = engines;
    const { uploads, downloads, memory } = await measureFiles({
      ...{ mongodbUrl, natsUrl, redisUrl, wrk, folder, progress },
      rounds: isQuick ? 3 : 10,
      seconds: isQuick ? 3 : 4,
      connections: 4,
    });
    const line = (name: string, of: typeof uploads.kith) => [
      name,
      spread(of.median.rps, of.least.rps, of.most.rps),
      figure(of.median.p50),
      of.median.cpu_ms > 0 ? figure(of.median.cpu_ms) : '',
    ];
    const verdicts = [
      atLeast(
        "uploads over a plain Node server's",
        ratio<FilesSample>(uploads.kith, uploads.peer, 'rps'),
        0.6,
      ),
      atLeast("downloads over nginx's", ratio<FilesSample>(downloads.kith, downloads.peer, 'rps'), 0.6),
      atMost('wrong answers', uploads.kith.wrong + downloads.kith.wrong, 0),
      atMost('MiB of the gateway above idle, for an upload of 50 MiB', memory.one.gateway, 20),
      atMost('MiB of storage above idle, for an upload of 50 MiB', memory.one.storage, 80),
      atMost('MiB of the gateway above idle, for ten such uploads at once', memory.ten.gateway, 200),
      atMost('MiB of storage above idle, for ten such uploads at once', memory.ten.storage, 800),
    ];
    return {
      json: { uploads, downloads, memory },
      markdown: [
        table(
          ['', 'files/s', 'p50 ms', 'CPU ms a file'],
          [
            line('uploads, Kith', uploads.kith),
            line('uploads, Node alone: busboy and a file', uploads.peer),
            line('downloads, Kith', downloads.kith),
            line('downloads, nginx', downloads.peer),
          ],
        ),
        table(
          ['largest MiB above idle', 'gateway', 'storage'],
          [
            ['an upload of 50 MiB', figure(memory.one.gateway), figure(memory.one.storage)],
            ['ten of them at once', figure(memory.ten.gateway), figure(memory.ten.storage)],
          ],
        ),
        'Four connections were used. Kith ran as one gateway and one storage service, with its files in a folder. The storage service writes each upload to the disk before it answers; the plain server leaves this to the kernel.',
      ].join('\n\n'),
      verdicts,
    };
  },
};
