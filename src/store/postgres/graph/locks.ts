/**
 * The jobs that a transaction has locked. It keeps to the order of jobs, see 'Lock order' in docs/architecture.md. The order
 * depends only on values that never change: a status may have changed by the time the lock is granted.
 */

import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';

interface EndedRow {
  job_id: number;
  status: TerminalStatus;
  /** `continue_on_failure`: its failure counts as success. */
  continues: boolean;
}

export class Locks {
  readonly #sql: Sql;
  readonly #session: Session;
  readonly #live = new Set<number>();
  readonly #ended = new Map<number, EndedRow>();
  #lastLive = 0;
  #lastGroup = 0;
  #lastEnded = 0;

  constructor({ sql }: Pick<Context, 'sql'>, session: Session) {
    this.#sql = sql;
    this.#session = session;
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
    type Row = { job_id: number; flags: number };
    const rows = await this.#session.query<Row>(inOrder ? this.#sql.lockLive : this.#sql.takeLive, [numbers(wanted)]);
    for (const { job_id, flags } of rows) this.#hold(job_id, flags);
    if (inOrder || rows.length === wanted.length) return;
    const left = numbers(wanted.filter(isNew));
    if ((await this.#session.query(this.#sql.liveOf, [left])).length > 0) throw new StartAgain();
  }

  /** Declares that live rows were locked out of order: further ones are locked without waiting, except groups. */
  outOfOrder(): void {
    this.#lastLive = Number.POSITIVE_INFINITY;
  }

  /** Locks jobs, and those that the ends of some affect. Called before all other locks. */
  async withAffected(ends: readonly number[], others: readonly number[] = []): Promise<void> {
    type Row = { ids: number[] | null; flags: number[] };
    const [row] = await this.#session.query<Row>(this.#sql.lockWithAffected, [numbers(ends), numbers(others)]);
    for (const [place, id] of (row?.ids ?? []).entries()) this.#hold(id, row?.flags[place] ?? 0);
  }

  /** Locks the final rows of ended jobs, and returns them. */
  async ended(ids: readonly number[]): Promise<EndedRow[]> {
    const wanted = [...new Set(ids)].filter((id) => !this.#ended.has(id));
    if (wanted.length > 0) {
      const inOrder = isBeyond(wanted, this.#lastEnded);
      const lock = inOrder ? this.#sql.lockEnded : this.#sql.takeEnded;
      for (const row of await this.#session.query<EndedRow>(lock, [numbers(wanted)])) {
        this.#ended.set(row.job_id, row);
        this.#lastEnded = Math.max(this.#lastEnded, row.job_id);
      }
    }
    return ids.flatMap((id) => this.#ended.get(id) ?? []);
  }

  #hold(id: number, flags: number): void {
    this.#live.add(id);
    if (flags & FLAG.group) this.#lastGroup = Math.max(this.#lastGroup, id);
    else this.#lastLive = Math.max(this.#lastLive, id);
  }
}

function isBeyond(ids: readonly number[], last: number): boolean {
  return ids.every((id) => id > last);
}
