import type { Row, RowFacts } from '../row.ts';
import { startCompose } from '../world/compose.ts';
import { startEmbeddedPlace } from '../world/embedded.ts';
import { startNodes } from '../world/nodes.ts';
import type { Place } from '../world/place.ts';
import { brokerFileRows } from './broker-files.ts';
import { brokerRows } from './brokers.ts';
import { clockRows } from './clocks.ts';
import { composeRows } from './compose.ts';
import { fullDatabaseRows, fullFolderRows } from './disks.ts';
import { embeddedRows } from './embedded.ts';
import { engineRows } from './engines.ts';
import { eventRows } from './events.ts';
import { loadRows } from './load.ts';
import { networkRows } from './network.ts';
import { processRows } from './processes.ts';
import { versionRows } from './versions.ts';

type Progress = (line: string) => void;

/** A platform and the rows that run on it, one after the other. */
export interface Ground {
  rows: readonly RowFacts[];
  /** Starts the platform, and calls `run` with the platform and the chosen rows. */
  work(chosen: readonly RowFacts[], progress: Progress, run: Run): Promise<void>;
}

type Run = <P extends Place>(world: P, rows: readonly Row<P>[]) => Promise<void>;

/** All rows, in the order in which they are run. */
export const grounds: readonly Ground[] = [
  ground(
    (progress) => startNodes({ brokers: 1, progress }),
    [
      ...processRows,
      ...networkRows,
      ...engineRows,
      ...brokerFileRows,
      ...clockRows,
      ...versionRows,
      ...loadRows,
      ...eventRows,
    ],
  ),
  ground((progress) => startNodes({ brokers: 3, progress }), brokerRows),
  ground((progress) => startNodes({ brokers: 1, disk: 'small', progress }), fullDatabaseRows),
  ground(startCompose, composeRows),
  ground((progress) => startEmbeddedPlace({ progress }), embeddedRows),
  ground((progress) => startEmbeddedPlace({ diskMegabytes: 64, progress }), fullFolderRows),
];

function ground<P extends Place>(start: (progress: Progress) => Promise<P>, rows: readonly Row<P>[]): Ground {
  return {
    rows,
    async work(chosen, progress, run) {
      await using world = await start(progress);
      await run(
        world,
        rows.filter((row) => chosen.includes(row)),
      );
    },
  };
}
