import type { SealedSecret, StoredSecret } from '../../../core/secret.ts';
import type { Tables } from '../base/tables.ts';

export function putSecret(tables: Tables, { name, keyId, sealed }: SealedSecret): StoredSecret {
  const now = tables.clock.now();
  const row = { name, keyId, sealed, createdAt: tables.secrets.get(name)?.createdAt ?? now, updatedAt: now };
  tables.secrets.set(name, row);
  return { ...row };
}

export function resealSecret(tables: Tables, { name, keyId, sealed }: SealedSecret, old: string): boolean {
  const row = tables.secrets.get(name);
  if (row === undefined || row.sealed !== old) return false;
  tables.secrets.set(name, { ...row, keyId, sealed });
  return true;
}

export function deleteSecret(tables: Tables, name: string): boolean {
  return tables.secrets.delete(name);
}

export function secrets(tables: Tables, names: readonly string[] | null): StoredSecret[] {
  const wanted =
    names === null
      ? [...tables.secrets.values()]
      : [...new Set(names)].flatMap((name) => tables.secrets.get(name) ?? []);
  return wanted.sort((a, b) => (a.name < b.name ? -1 : 1)).map((row) => ({ ...row }));
}
