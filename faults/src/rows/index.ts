import type { Row } from '../row.ts';
import { engineRows } from './engines.ts';
import { networkRows } from './network.ts';
import { processRows } from './processes.ts';

/** All rows, in the order in which they are run. */
export const rows: readonly Row[] = [...processRows, ...networkRows, ...engineRows];
