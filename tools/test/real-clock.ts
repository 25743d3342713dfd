// Runs before each test file. If a test with a fake clock fails, the tests after it get the real clock back.
import { afterEach, vi } from 'vitest';

afterEach(() => void vi.useRealTimers());
