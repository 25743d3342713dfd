// Starts no platform and no process.
import { expect, it } from 'vitest';
import { makeStable } from './stable.ts';

const began = Date.parse('2025-11-20T10:00:00.000Z');
const instant = (ms: number) => new Date(began + ms).toISOString();
/** The stable form of points in time, in ms after the beginning. Requests begin at 100 and 200 ms. */
const stable = (...points: number[]) => makeStable(points.map(instant), [began, began + 100, began + 200]);
const minute = (count: number) => `2026-01-05T09:0${count}:00.000Z`;
const later = Date.now() + 3_600_000 - began;

it('all points in time of one request become the same point, even if the clock has advanced between them', () => {
  const once = [0, 1, 1, 2].map(minute);
  expect(stable(7, 101, 101, 230)).toEqual(once);
  expect(stable(40, 100, 103, 200)).toEqual(once);
});

it('points in time keep their order, and each expiry time becomes a separate point', () => {
  expect(stable(later + 1, 201, -5, later, 3)).toEqual([4, 2, 0, 3, 1].map(minute));
});
