import {
  closeFeed,
  collectionWithEntities,
  feedAfter,
  feedNotice,
  getProjectSettings,
  getRevocations,
  openFeed,
  operations,
  projectOfUser,
  projectSettingsNotice,
  revocationNotice,
} from '@kith/contracts';
import type { BusUses } from '@kith/service';

const sections = operations.flatMap(({ parts }) => Object.values(parts?.sections ?? {}));

/** What the gateway does on the bus. */
export const gatewayUses: BusUses = {
  name: 'gateway',
  forwards: true,
  asks: [
    projectOfUser,
    getRevocations,
    getProjectSettings,
    openFeed,
    feedAfter,
    closeFeed,
    collectionWithEntities,
    ...sections,
  ],
  hears: [revocationNotice, projectSettingsNotice, feedNotice],
};
