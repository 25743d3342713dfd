// Starts at most 2 platforms and 7 processes.
import { answersAsDocumented } from './support/document/suite.ts';

answersAsDocumented({ count: 600, timeoutMs: 120_000 });
