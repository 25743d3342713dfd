import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['libs/*/{src,tests}/**/*.test.ts', 'services/*/{src,tests}/**/*.test.ts', 'tests/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
