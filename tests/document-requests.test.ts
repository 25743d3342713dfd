// Starts at most 1 platform and no process.
import { answersAsDocumented } from './support/document/suite.ts';

// On real engines, tests/document-requests.long.test.ts sends such requests.
answersAsDocumented(['embedded'], { count: 600, timeoutMs: 120_000 });
