import type { StoredSecret } from '../core/secret.ts';

/** A row of the table `secret`, which both databases have. */
export interface SecretColumns {
  name: string;
  key_id: string;
  sealed: string;
  created_at: number;
  updated_at: number;
}

export function secretFrom(row: SecretColumns): StoredSecret {
  const { name, key_id: keyId, sealed, created_at: createdAt, updated_at: updatedAt } = row;
  return { name, keyId, sealed, createdAt, updatedAt };
}
