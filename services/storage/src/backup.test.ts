import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { storageBackup } from './backup.ts';
import { filePlace } from './store/place.ts';

it.each([
  ['an uploaded image', undefined],
  ['an imported image', randomUUID()],
])('lists the keys of all bytes of %s', (_, bytesId) => {
  const file = { projectId: randomUUID(), userId: randomUUID(), id: randomUUID(), createdAt: 1 };
  const variants = { small: { size: 2, width: 1, height: 1 }, large: { size: 3, width: 2, height: 2 } };
  const image = { format: 'png', quality: 80, width: 4, height: 4, variants };
  const row = { id: filePlace(file), doc: { ...(bytesId && { bytesId }), original: { size: 4 }, image } };
  const of = { fileId: file.id, projectId: file.projectId, userId: file.userId };
  const below = `${file.projectId}/${file.userId}/${bytesId ?? file.id}/`;
  const blobs = storageBackup.bytes?.of(row) ?? [];
  expect(blobs).toEqual([
    { file: of, rowId: row.id, key: `${below}original.bytes`, size: 4 },
    { file: of, rowId: row.id, key: `${below}small`, size: 2 },
    { file: of, rowId: row.id, key: `${below}large`, size: 3 },
  ]);
  expect(new Set(blobs.map((blob) => blob.file)).size).toBe(1);
});
