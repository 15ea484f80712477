/** Sealed secrets. The store cannot open them. */

import type { SealedSecret, StoredSecret } from '../core/secret.ts';

export interface SecretStore {
  /** Stores a secret under its name, in place of an earlier one. */
  putSecret(secret: SealedSecret, signal: AbortSignal): Promise<StoredSecret>;

  /** Replaces a secret that is still sealed as `sealed`. Returns false if it is not. */
  resealSecret(secret: SealedSecret, sealed: string, signal: AbortSignal): Promise<boolean>;

  /** Returns false if there is no such secret. */
  deleteSecret(name: string, signal: AbortSignal): Promise<boolean>;

  /** Returns the secrets with these names that exist, or all, by name. */
  secrets(names: readonly string[] | null, signal: AbortSignal): Promise<StoredSecret[]>;
}
