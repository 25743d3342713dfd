/** A red picture of 16 × 16 pixels. */
export const smallPng = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4Y2xMEmIY1TCqYfhqAABHizIQlCQN8AAAAABJRU5ErkJggg==',
  'base64',
);
