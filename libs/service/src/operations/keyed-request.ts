import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ApiError } from '@kith/base';
import { type Message, replayedHeader } from '@kith/bus';
import type { OperationSpec } from '@kith/contracts';
import type { Reply } from '@kith/store';
import type { RequestContext } from './context.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * A request with an Idempotency-Key. Neither the key nor the body is stored. Three values are derived from the key
 * (spec#idempotency-secrets). The first is the id under which the answer is kept. The second is a MAC, which shows whether a
 * later request with the same key is a different request. The third is the key that seals the answer.
 */
export class KeyedRequest {
  readonly id: string;
  readonly #mac: string;
  readonly #sealKey: Buffer;

  constructor(of: { spec: OperationSpec; context: RequestContext; body: Uint8Array }) {
    const { spec, context, body } = of;
    const { idempotencyKey = '', projectId, caller, serverKey, params, query } = context;
    // A key belongs to one caller of one operation in a project. If two callers use the same key, their requests have nothing
    // to do with each other. Unknown callers count as one caller.
    const who = [caller?.userId ?? '-', ...(serverKey ? [serverKey.keyId] : [])].join('~');
    const scope = `${projectId}|${who}|${spec.name}`;
    // The target is part of the request. With another target, the same body is another request.
    const asked = [scope, JSON.stringify(Object.entries(params).sort()), query];
    const derived = (purpose: string, parts: readonly (string | Uint8Array)[]) => {
      const hmac = createHmac('sha256', idempotencyKey);
      for (const part of [purpose, ...parts]) hmac.update(`${Buffer.byteLength(part)}:`).update(part);
      return hmac.digest();
    };
    this.id = `${scope}|${derived('id', [scope]).toString('base64url')}`;
    this.#mac = derived('request', [...asked, body]).toString('base64url');
    this.#sealKey = derived('seal', [...asked, body]);
  }

  /** The parts of an answer that are stored. */
  seal({ headers, body }: Message): Pick<Reply, 'mac' | 'sealed'> {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#sealKey, nonce);
    const text = JSON.stringify({ headers, body: Buffer.from(body).toString('utf8') });
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { mac: this.#mac, sealed: sealed.toString('base64') };
  }

  /** Opens the kept answer. Throws `request/idempotency-mismatch` if the kept answer belongs to another request. */
  replay({ mac, sealed }: Pick<Reply, 'mac' | 'sealed'>): Message {
    if (!timingSafeEqual(Buffer.from(mac, 'base64url'), Buffer.from(this.#mac, 'base64url')))
      throw new ApiError('request/idempotency-mismatch');
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv(algorithm, this.#sealKey, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    const { headers, body } = JSON.parse(text.toString('utf8')) as {
      headers: Message['headers'];
      body: string;
    };
    return { headers: { ...headers, [replayedHeader]: 'true' }, body: new TextEncoder().encode(body) };
  }
}
