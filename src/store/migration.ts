/**
 * Migrations: numbered SQL scripts, one for each database. Tables that both have are written once, in PostgreSQL's types, and stand
 * before the rest of a script.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { WorkronError } from '../core/error.ts';
import type { Dialect } from './sql/sql.ts';

export interface Migration {
  version: number;
  name: string;
  script: string;
  /** Of the first migration: tells apart databases of different programs from before the first release. */
  fingerprint?: string;
}

/** Reads the scripts of a database, in the order of their numbers. */
export function readMigrations(dialect: Dialect): Migration[] {
  const [own, shared] = [new URL(`${dialect}/migrations/`, import.meta.url), new URL('migrations/', import.meta.url)];
  const common = new Set(readdirSync(shared));
  return readdirSync(own)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const tables = common.has(name) ? sharedScript(readFileSync(new URL(name, shared), 'utf8'), dialect) : '';
      const migration = {
        version: Number.parseInt(name, 10),
        name,
        script: tables + readFileSync(new URL(name, own), 'utf8'),
      };
      return migration.version === 1 ? withFingerprint(migration, dialect) : migration;
    });
}

const ONLY = { postgres: ' -- PostgreSQL only', sqlite: ' -- SQLite only' } as const;

function sharedScript(script: string, dialect: Dialect): string {
  const other = ONLY[dialect === 'postgres' ? 'sqlite' : 'postgres'];
  const lines = script.split('\n').filter((line) => !line.endsWith(other) && !line.startsWith('--'));
  const own = lines.map((line) => line.replace(ONLY[dialect], '')).join('\n');
  return dialect === 'postgres' ? own : TO_SQLITE.reduce((text, [from, to]) => text.replace(from, to), own);
}

const TO_SQLITE: readonly [RegExp, string][] = [
  [/^\); -- SQLite: without rowid$/gm, ') strict, without rowid;'],
  [/^\);$/gm, ') strict;'],
  [/\bworkron\./g, ''],
  [/^ {2}id (bigint|integer) primary key( generated always as identity)?/gm, '  id integer primary key autoincrement'],
  [/ (timestamptz(\(3\))?|bigint|smallint|boolean)(?=[ ,\n])/g, ' integer'],
  [/ (jsonb|text\[\])(?=[ ,\n])/g, ' text'],
  [/ bytea(?=[ ,\n])/g, ' blob'],
  [/ float8(?=[ ,\n])/g, ' real'],
  [/ collate "C"/g, ''],
  [/ default false(?=[,\n])/g, ' default 0'],
];

/** Comments and spaces do not count. */
function withFingerprint(migration: Migration, dialect: Dialect): Migration {
  const text = migration.script.replace(/--.*$/gm, '').replace(/\s+/g, ' ');
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const meta = dialect === 'postgres' ? 'workron.meta' : 'meta';
  const script = `${migration.script}\nupdate ${meta} set foundation = '${fingerprint}';\n`;
  return { ...migration, script, fingerprint };
}

/** Throws `incompatible_schema` if the tables of a database are not those of the first migration. */
export function requireFoundation(
  [first]: readonly Migration[],
  found: string | null | undefined,
  place: string,
): void {
  if (first?.fingerprint === undefined || found === first.fingerprint) return;
  throw new WorkronError(
    'incompatible_schema',
    `${place} has other tables than this Workron: another version made it, before the first release. Export it with that version ` +
      '(`workron export FILE`), and restore it with this one into an empty database (`workron restore FILE`)',
  );
}
