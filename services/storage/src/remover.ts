import type { Logger } from '@kith/base';
import { Sweeper } from '@kith/service';
import { changeAccount } from './account.ts';
import type { AppContext } from './app.ts';
import { filePrefix } from './file.ts';
import type { Account } from './store/index.ts';

const atOnce = 50;

/**
 * Removes bytes that belong to no file. The bytes of a deleted file are removed immediately. If a process has died during an
 * upload, the bytes of the upload are removed later, when it is certain that no process is still storing them. First, the
 * remover makes sure that the bytes cannot become a file any more. Then it removes the bytes, and finally the note in the
 * account that names these bytes. Because of this order, no harm is done if a process dies between two steps. If the bytes of
 * one account cannot be removed, the remover goes on with the other accounts and tries again later.
 */
export class Remover {
  readonly #app: Pick<AppContext, 'store' | 'blobs' | 'turns'>;
  readonly #sweeper: Sweeper;
  #stopped = false;

  constructor(app: Pick<AppContext, 'store' | 'blobs' | 'turns'>, options: { everyMs: number; log: Logger }) {
    this.#app = app;
    this.#sweeper = new Sweeper(() => this.#work(), options);
  }

  /** Looks for bytes to remove now, and does not wait for the result. */
  kick(): void {
    this.#sweeper.kick();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sweeper.stop();
  }

  async #work(): Promise<void> {
    const failures: unknown[] = [];
    for (let after: Account | undefined, hasMore = true; hasMore; ) {
      const some = await this.#app.store.due(Date.now(), atOnce, after);
      for (const account of some) {
        if (this.#stopped) return;
        await this.#removeOf(account).catch((error) => failures.push(error));
      }
      after = some.at(-1);
      hasMore = some.length === atOnce;
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `${failures.length} accounts still have bytes to remove`);
  }

  async #removeOf({ owner, doc }: Account): Promise<void> {
    const { store, blobs } = this.#app;
    const now = Date.now();
    const due = doc.loose.filter((one) => one.due <= now);
    if (due.some(({ isDead }) => !isDead)) {
      const late = new Set(due.map(({ fileId }) => fileId));
      // If one of these uploads has become a file meanwhile, the account no longer contains its note, and its bytes stay.
      await changeAccount(this.#app, owner, (account) => store.giveUp(account, late));
    }
    const { doc: current } = await store.account(owner);
    for (const { fileId, isDead } of current.loose) {
      if (!isDead || this.#stopped) continue;
      await blobs.removeAll(filePrefix({ ...owner, id: fileId }));
      await changeAccount(this.#app, owner, (account) => store.forget(account, fileId));
    }
  }
}
