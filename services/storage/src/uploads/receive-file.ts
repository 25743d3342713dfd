import { fileTypeFromBuffer } from 'file-type';
import type { AppContext } from '../app.ts';
import { blobKey } from '../file.ts';
import type { Draft, Receiver } from './receive.ts';
import { storeBytes } from './store-bytes.ts';

const unknownType = 'application/octet-stream';

/** Receives bytes of any kind and stores them as they come in. */
export function fileReceiver({ blobs }: AppContext): Receiver<Draft> {
  return {
    async take({ name, bytes }, receipt) {
      let head: Uint8Array = new Uint8Array();
      const size = await storeBytes(blobs, blobKey(receipt), bytes, {
        ...{ noted: receipt.noted, signal: receipt.signal },
        onHead: (first) => {
          head = first;
        },
        onSize: receipt.checkRoom,
      });
      return { name, original: { size }, bytes: size, contentType: await typeOf(head) };
    },
    finish: async (draft) => draft,
  };
}

/**
 * Recognises the media type by the first bytes. Ignores the file's name. For bytes that it does not recognise, returns the
 * general type.
 */
async function typeOf(head: Uint8Array): Promise<string> {
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  return type?.mime ?? unknownType;
}
