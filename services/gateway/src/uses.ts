import {
  actingUser,
  apiKeyNotice,
  closeFeed,
  collectionWithEntities,
  feedAfter,
  feedNotice,
  getApiKeys,
  getProjectSettings,
  getRevocations,
  noteKeyUses,
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
    actingUser,
    projectOfUser,
    getRevocations,
    getProjectSettings,
    getApiKeys,
    noteKeyUses,
    openFeed,
    feedAfter,
    closeFeed,
    collectionWithEntities,
    ...sections,
  ],
  hears: [revocationNotice, projectSettingsNotice, apiKeyNotice, feedNotice],
};
