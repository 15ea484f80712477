/** The mark in a file that was promoted to PostgreSQL: its jobs run there, and would run a second time from here. */

import { WorkronError } from '../../../core/error.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';
import { lockedByOther } from './store-error.ts';

export interface PromotionMark {
  /** The address of the database, without its password. */
  to: string;
  /** The random number of the installation there. */
  installation: number;
}

export function promotionMark(database: Database): PromotionMark | undefined {
  return database.get<PromotionMark>(sql.promotionMark);
}

/** `undefined` removes the mark. It is in the file itself when this returns, so that it goes with the file wherever that is moved. */
export function setPromotionMark(database: Database, file: string, mark: PromotionMark | undefined): void {
  database.run(sql.setPromotionMark, mark?.to ?? null, mark?.installation ?? null);
  if (database.get<{ busy: number }>('pragma wal_checkpoint(truncate)')?.busy !== 0) throw lockedByOther(file);
}

/** Throws `store_unavailable` if the file is marked. */
export function refusePromoted(database: Database, file: string): void {
  const mark = promotionMark(database);
  if (mark !== undefined) throw promotedError(file, mark);
}

export function promotedError(file: string, { to }: PromotionMark): WorkronError {
  return new WorkronError(
    'store_unavailable',
    `${file} was promoted to ${to}, and its jobs would run twice; start Workron with that --db-url, or, if nothing runs there, ${unmarkAdvice(file)}`,
  );
}

export function unmarkAdvice(file: string): string {
  return `allow the file again by \`workron doctor --unmark --db-url sqlite:${file}\``;
}
