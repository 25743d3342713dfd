import { waitFor } from '@kith/testing';
import { expect } from 'vitest';
import { blobKey } from '../../src/file.ts';
import { type DyingAct, expectCounted, toldSoFar } from './deaths.ts';

export const uploadOf = (act: 'file' | 'image', size: number): DyingAct => ({
  act,
  size,
  async check(world, { death, held, owner }) {
    const { rows } = held;
    expectCounted(held);
    if (death.acknowledged) expect(rows).toHaveLength(1);
    for (const row of rows) {
      const answer = await world.get(row.id, owner);
      expect(answer?.body).toHaveLength(row.original.size);
      if (act === 'file') expect(answer?.body.equals(Buffer.alloc(size))).toBe(true);
      expect(Object.keys(row.image?.variants ?? {})).toEqual(act === 'image' ? ['small'] : []);
    }
    expect(await toldSoFar(world, owner)).toEqual(rows.map(({ id }) => `file.created ${id}`));
  },
});

const bytes = Buffer.alloc(700_000);

export const deletion: DyingAct = {
  act: 'delete',
  prepare: async (world, owner) => ({ fileId: await world.file(owner, bytes) }),
  async check(world, { death, held, owner }) {
    expectCounted(held);
    const [row] = held.rows;
    if (death.acknowledged) expect(row).toBeUndefined();
    const fileId = String(world.events[0]?.data.fileId);
    const answer = await world.get(fileId, owner);
    expect(answer?.status).toBe(row ? 200 : 404);
    if (row) expect(answer?.body.equals(bytes)).toBe(true);
    const told = [`file.created ${fileId}`, ...(row ? [] : [`file.deleted ${fileId}`])];
    expect(await toldSoFar(world, owner)).toEqual(told);
  },
};

/** Removes the bytes that an unfinished upload has left. At the beginning, the note of the upload is not marked as given up. */
export const removal: DyingAct = {
  act: 'remove',
  async prepare({ place }, owner) {
    const id = 'left-by-an-upload';
    await place.store.begin(await place.store.account(owner), id, 0);
    for (const variant of [undefined, 'small']) {
      await place.blobs.put(blobKey({ ...owner, id }, variant), [bytes] as never);
    }
    return undefined;
  },
  async check(world, { held, owner }) {
    expect(held).toMatchObject({ files: 0, bytes: 0, projectBytes: 0, rows: [], keys: [] });
    expect(await toldSoFar(world, owner)).toEqual([]);
  },
};

export const erasure: DyingAct = {
  act: 'erase',
  async prepare(world, owner) {
    await world.file(owner, bytes);
    await removal.prepare?.(world, owner);
    return undefined;
  },
  again: (world, owner) => world.endAccount(owner),
  async check(world, { owner }) {
    const { place } = world;
    const isGone = async () => (await place.store.account(owner)).stored === undefined;
    await waitFor(isGone, { what: 'the end of the account' });
    const nothing = { files: 0, bytes: 0, loose: [], projectBytes: 0, rows: [], keys: [], unfinished: 0 };
    expect(await place.held(owner)).toEqual(nothing);
  },
};
