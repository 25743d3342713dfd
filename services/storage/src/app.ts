import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { Blobs } from '@kith/store/blobs';
import type { Addresses } from './file.ts';
import type { Renderer } from './images/renderer.ts';
import type { FileStore } from './store/index.ts';

/** How many bytes a project may store, and how many bytes a user may store (spec#storage-quota). */
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
  /** Used to withdraw the published events of an erased user. */
  bus: Bus;
  /** Publishes the events that are stored together with changes. */
  relay: Pick<Relay, 'kick'>;
  /** Removes the bytes of deleted files. */
  remover: { kick(): void };
  /**
   * Makes this process's changes of an account run one after the other. So a change can only collide with a change that another
   * process makes.
   */
  turns: Turns;
  /** A folder that holds images while they are read and rendered. */
  draftFolder: string;
  /** After how long the bytes of an unfinished upload are removed, in ms. */
  looseMs: number;
  /** The maximum time between the end of an upload's form and the answer, in ms. */
  answerMs: number;
}
