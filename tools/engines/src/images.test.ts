import { expect, test } from 'vitest';
import { candidates, imageVariables, officialImages, offlineImages } from './images.ts';

test('without names in the environment, official images come before offline ones', () => {
  expect(candidates('mongo', {})).toEqual([officialImages.mongo, offlineImages.mongo]);
});

test('an image the environment names is the only one that will do', () => {
  expect(candidates('mongo', { MONGO_IMAGE: ' mongo:7 ' })).toEqual(['mongo:7']);
  expect(candidates('redis', { MONGO_IMAGE: 'mongo:7', REDIS_IMAGE: '' })).toHaveLength(2);
});

test('images are written as the variables they are read from', () => {
  const [line] = imageVariables(offlineImages).split('\n');
  expect(line).toBe('MONGO_IMAGE=kith-offline/mongo:2');
});
