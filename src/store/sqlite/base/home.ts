/**
 * A database file is used under one name, its home: the owner's lock and the write-ahead log lie beside that name. Under a
 * second name, a second process could own the file, and would miss what is only in the log.
 */

import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { WorkronError } from '../../../core/error.ts';
import { Database } from './database.ts';
import { sql } from './sql.ts';
import { lockedByOther } from './store-error.ts';

/**
 * Returns the home of the file that `path` names, through symbolic and hard links. Throws `store_unavailable` if the file has
 * several names and none of them is known as its home.
 */
export function homeOf(path: string): string {
  const file = existsSync(path) ? realpathSync(path) : resolve(path);
  const names = statSync(file, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names === 1) return file;
  const home = recordedHome(file);
  if (home !== null && isSameFile(home, file)) return home;
  throw new WorkronError(
    'store_unavailable',
    `${file} has ${names} names (hard links), and its write-ahead log may lie beside any of them; remove all names but one`,
  );
}

/**
 * Records `file` as its own home. The record is moved out of the write-ahead log, so that it can be read under any other name
 * of the file.
 */
export function recordHome(database: Database, file: string): void {
  const recorded = database.get<{ home: string | null }>(sql.home)?.home;
  if (recorded !== file) database.run(sql.setHome, file);
  const moved = database.get<{ busy: number }>('pragma wal_checkpoint(truncate)');
  if (recorded !== file && moved?.busy !== 0) throw lockedByOther(file);
}

function recordedHome(file: string): string | null {
  try {
    using database = new Database(file, { readOnly: true });
    return database.get<{ home: string | null }>(sql.home)?.home ?? null;
  } catch {
    // Empty, or not a database of Workron.
    return null;
  }
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}
