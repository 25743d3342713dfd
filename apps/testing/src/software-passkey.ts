import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { PasskeyAssertion, PasskeyCreation, PasskeyRegistration, PasskeyRequest } from '@kith/contracts';

/** The ways in which a passkey's answer should differ from a browser's answer. */
export interface Bent {
  challenge?: string;
  rpId?: string;
  type?: string;
  /** The user was not verified. */
  isUnverified?: true;
  /** The counter of signatures does not rise, as in a copied passkey. */
  isCopied?: true;
  /** Changed fields of the client's data. */
  client?: object;
}

const flags = { present: 1, verified: 4, attested: 64 };

/**
 * A passkey with a P-256 key, for tests without a browser. It returns the answers that `navigator.credentials` would give, as
 * JSON.
 */
export class SoftwarePasskey {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(32);
  #counter = 0;

  /** @param origin The origin of the page. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Makes the passkey for a relying party. */
  create({ challenge, rp }: Pick<PasskeyCreation, 'challenge' | 'rp'>, bent: Bent = {}): PasskeyRegistration {
    const { publicKey } = this.#keys;
    const data = this.#data(bent.rpId ?? rp.id, bent, flags.attested);
    const length = Buffer.from([0, this.#id.length]);
    const attested = [Buffer.alloc(16), length, this.#id, coseOf(publicKey.export({ format: 'jwk' }))];
    return {
      id: this.#id.toString('base64url'),
      type: 'public-key',
      response: {
        clientDataJSON: this.#client('webauthn.create', challenge, bent).toString('base64url'),
        authenticatorData: Buffer.concat([data, ...attested]).toString('base64url'),
        publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
        publicKeyAlgorithm: -7,
        transports: ['internal'],
      },
    };
  }

  /** Signs a challenge. */
  get({ challenge, rpId }: Pick<PasskeyRequest, 'challenge' | 'rpId'>, bent: Bent = {}): PasskeyAssertion {
    const client = this.#client('webauthn.get', challenge, bent);
    const data = this.#data(bent.rpId ?? rpId, bent, 0);
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    return {
      id: this.#id.toString('base64url'),
      type: 'public-key',
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
      },
    };
  }

  #client(type: string, challenge: string, bent: Bent): Buffer {
    const client = { type: bent.type ?? type, challenge: bent.challenge ?? challenge, origin: this.#origin };
    return Buffer.from(JSON.stringify({ ...client, crossOrigin: false, ...bent.client }));
  }

  #data(rpId: string, { isUnverified, isCopied }: Bent, more: number): Buffer {
    if (!isCopied) this.#counter += 1;
    const data = Buffer.alloc(37);
    createHash('sha256').update(rpId).digest().copy(data);
    data[32] = flags.present | more | (isUnverified ? 0 : flags.verified);
    data.writeUInt32BE(this.#counter, 33);
    return data;
  }
}

/** A public key of P-256 in COSE (RFC 9053 7.1.1). */
function coseOf({ x = '', y = '' }: { x?: string; y?: string }): Buffer {
  const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex');
  return Buffer.from(`a5010203262001215820${hex(x)}225820${hex(y)}`, 'hex');
}
