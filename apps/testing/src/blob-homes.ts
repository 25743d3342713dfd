import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobsConfig } from '@kith/store/blobs';
import { MongoClient } from 'mongodb';
import { availableEngines, type EngineKind } from './engine-kinds.ts';
import { startEngines } from './engines.ts';
import { uniquePrefix } from './parts.ts';
import { hasS3, startS3 } from './s3-server.ts';

export type BlobHomeKind = BlobsConfig['kind'];

/** A place for the bytes of files. Disposing the place erases the bytes. */
export interface BlobHome extends AsyncDisposable {
  config: BlobsConfig;
  /** How many pieces of incomplete files the place still holds, if the place can show this. */
  unfinished(): Promise<number>;
}

/** The kinds of blob homes that tests can use on this machine. */
export function availableBlobHomes(): readonly BlobHomeKind[] {
  const engines = availableEngines();
  return [
    'folder',
    ...(engines.includes('containers') ? ['gridfs' as const] : []),
    ...(hasS3() ? ['s3' as const] : []),
  ];
}

/** The engine that a platform with this home runs on. */
export function engineOfHome(kind: BlobHomeKind): EngineKind {
  return kind === 'gridfs' ? 'containers' : 'embedded';
}

export async function createBlobHome(kind: BlobHomeKind): Promise<BlobHome> {
  if (kind === 'folder') {
    const folder = await mkdtemp(join(tmpdir(), 'kith-blobs-'));
    return {
      config: { kind, folder },
      unfinished: () => unfinishedIn(folder),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    };
  }
  if (kind === 's3') {
    const server = await startS3();
    return {
      config: { kind, url: server.url },
      unfinished: async () => 0,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }
  const engines = await startEngines();
  const database = `kith_${uniquePrefix()}`;
  const client = new MongoClient(engines.mongodbUrl);
  return {
    config: { kind, url: engines.mongodbUrl, database },
    unfinished: () => looseChunks(client, database),
    async [Symbol.asyncDispose]() {
      await client.db(database).dropDatabase();
      await client.close();
      await engines[Symbol.asyncDispose]();
    },
  };
}

/** How many files in a folder have no final name yet. */
export async function unfinishedIn(folder: string): Promise<number> {
  return (await readdir(join(folder, '.unfinished'))).length;
}

/** How many GridFS chunks belong to no file. */
export async function looseChunks(client: MongoClient, database: string): Promise<number> {
  const db = client.db(database);
  const files = await db
    .collection('blobs.files')
    .find({}, { projection: { _id: 1 } })
    .toArray();
  return db.collection('blobs.chunks').countDocuments({ files_id: { $nin: files.map(({ _id }) => _id) } });
}
