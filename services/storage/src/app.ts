import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { Blobs } from '@kith/store/blobs';
import type { Addresses } from './file.ts';
import type { Renderer } from './images/renderer.ts';
import type { FileStore } from './store/index.ts';

/** The most bytes that may be stored (spec#storage-quota). */
export interface Quotas {
  projectBytes: number;
  userBytes: number;
}

/** What the handlers of this service need. */
export interface AppContext {
  store: FileStore;
  /** The store of the files' bytes. */
  blobs: Blobs;
  renderer: Renderer;
  addresses: Addresses;
  quotas: Quotas;
  /** For withdrawing published events of an erased user. */
  bus: Bus;
  /** Publishes the events that changes have stored. */
  relay: Pick<Relay, 'kick'>;
  /** Removes the bytes of deleted files. */
  remover: { kick(): void };
  /** Makes changes of one account take turns within a process, so that they only race with those of other processes. */
  turns: Turns;
  /** A folder that holds images while they are read and rendered. */
  draftFolder: string;
  /** After how long the bytes of an upload that has not ended are removed, in ms. */
  looseMs: number;
}
