import type { Row } from '../row.ts';
import { brokerFileRows } from './broker-files.ts';
import { brokerRows } from './brokers.ts';
import { clockRows } from './clocks.ts';
import { engineRows } from './engines.ts';
import { eventRows } from './events.ts';
import { loadRows } from './load.ts';
import { networkRows } from './network.ts';
import { processRows } from './processes.ts';
import { versionRows } from './versions.ts';

/** All rows, in the order in which they are run. */
export const rows: readonly Row[] = [
  ...processRows,
  ...networkRows,
  ...engineRows,
  ...brokerFileRows,
  ...clockRows,
  ...versionRows,
  ...loadRows,
  ...eventRows,
  ...brokerRows,
];
