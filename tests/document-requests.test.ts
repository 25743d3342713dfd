// Starts at most 1 platform and no process.
import { answersAsDocumented } from './support/document/suite.ts';

// tests/document-requests.long.test.ts sends requests of the same kind on real engines.
answersAsDocumented(['embedded'], { count: 600, timeoutMs: 120_000 });
