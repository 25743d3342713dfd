// Starts at most 1 platform and 8 processes.
import { describeSurface } from '../support/surface/suite.ts';
import { storage, userMebibytes } from './storage.ts';

// The quota is so small that a test can use it up.
describeSurface([storage], {
  async prepare() {
    return { env: { STORAGE_USER_MIB: String(userMebibytes) }, async [Symbol.asyncDispose]() {} };
  },
});
