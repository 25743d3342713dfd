import { expect, test } from 'vitest';
import { digestOf } from './docker.ts';
import { candidates, imageVariables, officialImages, offlineImages } from './images.ts';

test('without names in the environment, official images come before offline ones', () => {
  expect(candidates('mongo', {})).toEqual([officialImages.mongo, offlineImages.mongo]);
});

test('if the environment names an image, only this image is accepted', () => {
  expect(candidates('mongo', { MONGO_IMAGE: ' mongo:7 ' })).toEqual(['mongo:7']);
  expect(candidates('redis', { MONGO_IMAGE: 'mongo:7', REDIS_IMAGE: '' })).toHaveLength(2);
});

test('images are written under the names of the variables from which they are read', () => {
  const [line] = imageVariables(offlineImages).split('\n');
  expect(line).toBe('MONGO_IMAGE=kith-offline/mongo:2');
});

test('an image from a registry is named by its digest, and keeps its tag', () => {
  const digests = ['other/node@sha256:aa', 'node@sha256:bb', ''];
  expect(digestOf('node:24-bookworm-slim', digests)).toBe('node:24-bookworm-slim@sha256:bb');
  expect(digestOf('registry:5000/kith/node', ['registry:5000/kith/node@sha256:cc'])).toBe(
    'registry:5000/kith/node@sha256:cc',
  );
  expect(digestOf('kith-offline/node:1', [''])).toBeUndefined();
});
