import type { SealedSecret, StoredSecret } from '../../../core/secret.ts';
import { type SecretColumns, secretFrom } from '../../secret-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function putSecret({ database, now }: Context, { name, keyId, sealed }: SealedSecret): StoredSecret {
  return secretFrom(database.get<SecretColumns>(sql.putSecret, name, keyId, sealed, now) as SecretColumns);
}

export function resealSecret({ database }: Context, { name, keyId, sealed }: SealedSecret, old: string): boolean {
  return database.run(sql.resealSecret, name, keyId, sealed, old) > 0;
}

export function deleteSecret({ database }: Context, name: string): boolean {
  return database.run(sql.deleteSecret, name) > 0;
}

export function secrets({ database }: Context, names: readonly string[] | null): StoredSecret[] {
  return database.all<SecretColumns>(sql.secrets, names === null ? null : JSON.stringify(names)).map(secretFrom);
}
