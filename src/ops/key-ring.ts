/** Keys that seal secrets: AES-256-GCM, with the name of the secret as additional data, so that rows cannot be exchanged. */

import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import type { SealedSecret, SecretKeys } from '../core/secret.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class KeyRing implements SecretKeys {
  readonly keyId: string;
  readonly #current: Buffer;
  readonly #keys = new Map<string, Buffer>();

  /** The first key seals, all of them open. */
  private constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#current = keys[0];
    this.keyId = idOf(keys[0]);
    for (const key of keys) this.#keys.set(idOf(key), key);
  }

  /** Takes one key per line: 32 bytes in base64 or hexadecimal digits. Throws if one is malformed, or there is none. */
  static parse(text: string): KeyRing {
    const lines = text.split('\n').map((line) => line.trim());
    const [first, ...more] = lines.filter((line) => line !== '' && !line.startsWith('#')).map(keyFrom);
    if (first === undefined) throw new Error('expected a key of 32 bytes in base64, got none');
    return new KeyRing([first, ...more]);
  }

  /** With a salt, the same name and value are sealed alike: the nonce is derived from the three. */
  seal(name: string, value: string, salt?: string): SealedSecret {
    const nonce = salt === undefined ? randomBytes(NONCE_BYTES) : this.#nonceFor([salt, name, value]);
    const cipher = createCipheriv(ALGORITHM, this.#current, nonce).setAAD(Buffer.from(name));
    const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { name, keyId: this.keyId, sealed: sealed.toString('base64') };
  }

  #nonceFor(parts: readonly string[]): Buffer {
    const key = createHmac('sha256', this.#current).update('workron nonce').digest();
    return createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, NONCE_BYTES);
  }

  open({ name, keyId, sealed }: SealedSecret): string | undefined {
    const key = this.#keys.get(keyId);
    const bytes = Buffer.from(sealed, 'base64');
    if (key === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(name))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return text.toString('utf8');
    } catch {
      return undefined;
    }
  }
}

function keyFrom(line: string): Buffer {
  const key = /^[0-9a-f]{64}$/i.test(line) ? Buffer.from(line, 'hex') : Buffer.from(line, 'base64');
  if (key.length !== KEY_BYTES) throw new Error('expected 32 bytes in base64 or hexadecimal digits in each line');
  return key;
}

/** Says which key sealed a secret, and nothing else about the key. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('workron secrets key').update(key).digest('hex').slice(0, 8);
}
