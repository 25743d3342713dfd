import { fileTypeFromBuffer } from 'file-type';
import type { AppContext } from '../app.ts';
import { blobKey } from '../file.ts';
import type { Draft, Receiver } from './receive.ts';
import { storeBytes } from './store-bytes.ts';

const unknownType = 'application/octet-stream';

/** Receives any bytes as they are, straight into the store. */
export function fileReceiver({ blobs }: AppContext): Receiver<Draft> {
  return {
    async take({ name, bytes }, receipt) {
      let head: Uint8Array = new Uint8Array();
      const original = await storeBytes(blobs, blobKey(receipt), bytes, {
        signal: receipt.signal,
        onHead: (first) => {
          head = first;
        },
        onSize: receipt.checkRoom,
      });
      return { name, original, bytes: original.size, contentType: await typeOf(head) };
    },
    finish: async (draft) => draft,
  };
}

/** The media type that the first bytes are of. What looks like none is bytes: a name says nothing. */
async function typeOf(head: Uint8Array): Promise<string> {
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  return type?.mime ?? unknownType;
}
