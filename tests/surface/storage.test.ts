// Starts at most 2 platforms and 8 processes.
import { describeSurface } from '../support/surface/suite.ts';
import { storage, userMebibytes } from './storage.ts';

// A quota that a test can use up.
describeSurface([storage], {
  async prepare() {
    return { env: { STORAGE_USER_MIB: String(userMebibytes) }, async [Symbol.asyncDispose]() {} };
  },
});
