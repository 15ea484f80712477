/** Migrations: numbered SQL scripts, one folder for each database. */

import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  version: number;
  name: string;
  script: string;
}

/** Reads the scripts of a folder, in the order of their numbers. */
export function readMigrations(folder: URL): Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names
    .sort()
    .map((name) => ({ version: Number.parseInt(name, 10), name, script: readFileSync(new URL(name, folder), 'utf8') }));
}
