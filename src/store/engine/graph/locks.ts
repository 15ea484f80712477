/**
 * The jobs that a transaction has locked. It keeps to the order of jobs, see 'Lock order' in docs/architecture.md. The order
 * depends only on values that never change: a status may have changed by the time the lock is granted.
 */

import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { columns } from '../../sql/columns.ts';
import { anyFrom, anyOf, eachOf, locking, raw, sql } from '../../sql/sql.ts';
import { StartAgain, type Tx } from '../../sql/tx.ts';
import { continues, isFinal } from '../standing.ts';
import { edgesFrom } from './edges.ts';

interface EndedRow {
  jobId: number;
  status: TerminalStatus;
  /** Its failure counts as success. */
  continueOnFailure: boolean;
}

const liveRow = columns<{ jobId: number; flags: number }>({ jobId: 'bigint', flags: 'int' });
const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });
const endedRow = columns<EndedRow>({ jobId: 'bigint', status: 'text', continueOnFailure: 'bool' });

/** Ids and groups never change, so the order still holds when the lock is granted. */
const groupsLast = raw(`order by l.flags & ${FLAG.group}, l.job_id`);

export class Locks {
  readonly #tx: Pick<Tx, 'all'>;
  readonly #live = new Set<number>();
  readonly #ended = new Map<number, EndedRow>();
  #lastLive = 0;
  #lastGroup = 0;
  #lastEnded = 0;

  constructor(tx: Pick<Tx, 'all'>) {
    this.#tx = tx;
  }

  /** True if its live row is locked. */
  holds(id: number): boolean {
    return this.#live.has(id);
  }

  /** Notes live rows that the transaction itself has inserted. */
  made(ids: Iterable<number>): void {
    for (const id of ids) this.#live.add(id);
  }

  /**
   * Locks the live rows of jobs; `ids` may contain groups. Rows that come too late in the order are locked without waiting,
   * and `StartAgain` is thrown if another transaction holds one. So ask for all rows at once.
   */
  async live(ids: Iterable<number>, groupIds: Iterable<number> = []): Promise<void> {
    const isNew = (id: number) => !this.#live.has(id);
    const [singles, groups] = [[...new Set(ids)].filter(isNew), [...new Set(groupIds)].filter(isNew)];
    const wanted = [...singles, ...groups];
    if (wanted.length === 0) return;
    const inOrder =
      this.#ended.size === 0 &&
      (singles.length === 0 || (this.#lastGroup === 0 && isBeyond(singles, this.#lastLive))) &&
      isBeyond(groups, this.#lastGroup);
    const rows = await this.#tx.all(
      liveRow,
      sql`select l.job_id, l.flags from live l where l.job_id ${anyOf(wanted)}
        ${groupsLast} ${locking(inOrder ? 'for update' : 'for update skip locked')}`,
    );
    this.#hold(rows);
    if (inOrder || rows.length === wanted.length) return;
    if ((await this.lives(wanted.filter(isNew))).length > 0) throw new StartAgain();
  }

  /** Returns those of the jobs that have a live row, without locking them. */
  async lives(ids: readonly number[]): Promise<number[]> {
    if (ids.length === 0) return [];
    const rows = await this.#tx.all(jobRow, sql`select job_id from live where job_id ${anyOf(ids)}`);
    return rows.map(({ jobId }) => jobId);
  }

  /** Declares that live rows were locked out of order: further ones are locked without waiting, except groups. */
  outOfOrder(): void {
    this.#lastLive = Number.POSITIVE_INFINITY;
  }

  /** Locks jobs, and those that the ends of some affect. Called before all other locks. */
  async withAffected(ends: readonly number[], others: readonly number[] = []): Promise<void> {
    const affected = sql`select i.value from ${eachOf(ends)} union select i.value from ${eachOf(others)}
      union select e.child_id from ${eachOf(ends)} ${edgesFrom('i.value')}
      union select j.group_id from job j where j.id ${anyOf(ends)} and coalesce(j.group_id, 0) <> 0`;
    this.#hold(
      await this.#tx.all(
        liveRow,
        sql`select l.job_id, l.flags from live l where l.job_id ${anyFrom(affected)} ${groupsLast} ${locking('for update')}`,
      ),
    );
  }

  /** Locks the final rows of ended jobs, and returns them. The spec of an ended job never changes, so it may be read with the lock. */
  async ended(ids: readonly number[]): Promise<EndedRow[]> {
    const wanted = [...new Set(ids)].filter((id) => !this.#ended.has(id));
    if (wanted.length > 0) {
      const waits = isBeyond(wanted, this.#lastEnded);
      const rows = await this.#tx.all(
        endedRow,
        sql`select r.job_id, r.status, ${continues} as continue_on_failure from run r join job j on j.id = r.job_id
          where r.job_id ${anyOf(wanted)} and ${isFinal('r')}
          order by r.job_id ${locking(waits ? 'for update of r' : 'for update of r skip locked')}`,
      );
      for (const row of rows) this.#ended.set(row.jobId, row);
      this.#lastEnded = rows.reduce((last, { jobId }) => Math.max(last, jobId), this.#lastEnded);
    }
    return ids.flatMap((id) => this.#ended.get(id) ?? []);
  }

  #hold(rows: readonly { jobId: number; flags: number }[]): void {
    for (const { jobId, flags } of rows) {
      this.#live.add(jobId);
      if (flags & FLAG.group) this.#lastGroup = Math.max(this.#lastGroup, jobId);
      else this.#lastLive = Math.max(this.#lastLive, jobId);
    }
  }
}

function isBeyond(ids: readonly number[], last: number): boolean {
  return ids.every((id) => id > last);
}
