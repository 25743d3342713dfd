// Starts at most 2 platforms and 8 processes.
import { describeSurface } from '../support/surface/suite.ts';
import { storage, userMebibytes } from './storage.ts';

// The quota is small enough for a test to use up.
describeSurface([storage], {
  async prepare() {
    return { env: { STORAGE_USER_MIB: String(userMebibytes) }, async [Symbol.asyncDispose]() {} };
  },
});
