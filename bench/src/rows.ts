import { eventsRow } from './events/events-row.ts';
import { filesRow } from './files/files-row.ts';
import { gatewayRow } from './gateway/gateway-row.ts';
import { openRow } from './gateway/open-row.ts';
import { listingRow } from './listing/listing-row.ts';
import { noisyRow } from './overload/noisy-row.ts';
import { overloadRow } from './overload/overload-row.ts';
import { refusalsRow } from './overload/refusals-row.ts';
import type { Row } from './row.ts';
import { scalingRow } from './scaling/row.ts';
import { signingRow } from './signing/signing-row.ts';
import { startRow } from './start/start-row.ts';
import { wholeRow } from './whole/whole-row.ts';

/** The rows, in the order in which they are measured. */
export const rows: readonly Row[] = [
  gatewayRow,
  openRow,
  wholeRow,
  overloadRow,
  refusalsRow,
  noisyRow,
  signingRow,
  filesRow,
  scalingRow,
  eventsRow,
  startRow,
  listingRow,
];
