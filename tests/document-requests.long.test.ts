// Quick counterpart: tests/document-requests.test.ts
// Starts at most 2 platforms and 7 processes.
import { availableEngines } from '@kith/testing';
import { answersAsDocumented } from './support/document/suite.ts';

answersAsDocumented(availableEngines(), { count: 4_000, timeoutMs: 600_000 });
