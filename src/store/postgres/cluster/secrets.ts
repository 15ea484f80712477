import type { SealedSecret, StoredSecret } from '../../../core/secret.ts';
import { type SecretColumns, secretFrom } from '../../secret-columns.ts';
import type { Context } from '../base/context.ts';

export async function putSecret(
  { database, sql }: Context,
  { name, keyId, sealed }: SealedSecret,
  signal: AbortSignal,
): Promise<StoredSecret> {
  const [row] = await database.query<SecretColumns>(sql.putSecret, [name, keyId, sealed], signal);
  return secretFrom(row as SecretColumns);
}

export async function resealSecret(
  { database, sql }: Context,
  { name, keyId, sealed }: SealedSecret,
  old: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await database.query(sql.resealSecret, [name, keyId, sealed, old], signal)).length > 0;
}

export async function deleteSecret({ database, sql }: Context, name: string, signal: AbortSignal): Promise<boolean> {
  return (await database.query(sql.deleteSecret, [name], signal)).length > 0;
}

export async function secrets(
  { database, sql }: Context,
  names: readonly string[] | null,
  signal: AbortSignal,
): Promise<StoredSecret[]> {
  return (await database.query<SecretColumns>(sql.secrets, [names], signal)).map(secretFrom);
}
