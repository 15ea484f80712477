/**
 * What a transaction has come to beside the jobs it was about: counts of workflows, keys to let go of, children that are
 * still to hear of it, and what is to be told afterwards. Written last, in the order in which everybody locks.
 */

import {
  endStep,
  reopenStep,
  type StepCounts,
  type StepEnd,
  workflowStatus,
} from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { isWatched, type Notify } from '../../../core/notify.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { type EndNotice, insertNotices } from '../cluster/notices.ts';
import { giveTurnsTo } from '../jobs/turns.ts';

/** A job whose children are to hear what it is now; `cancelled`: those who wait for it in vain are cancelled with it. */
export interface Herald {
  id: number;
  mode: 'ended' | 'cancelled' | 'reopened';
}

interface CountsRow {
  id: number;
  started_at: number | null;
  open_steps: number;
  fine_steps: number;
  failed_steps: number;
  cancelled_steps: number;
  notify: Notify[] | null;
}

export class Tally {
  readonly #steps = new Map<number, ((counts: StepCounts) => StepCounts)[]>();
  readonly #heralds = new Map<number, Herald>();
  readonly #keyed: number[] = [];
  readonly #notices: EndNotice[] = [];
  readonly #jobs: number[] = [];
  readonly #claimable: number[] = [];
  readonly #fairQueues: string[] = [];
  #work = false;
  #graph = false;
  #dueAt: number | null = null;
  #at = 0;

  /** When what is told here came about; the last time counts. */
  at(instant: number): void {
    this.#at = Math.max(this.#at, instant);
  }

  /** Of a step, or of anything that is none. */
  ended(workflowId: number | null, end: StepEnd): void {
    this.#count(workflowId, (counts) => endStep(counts, end));
  }

  reopened(workflowId: number | null, end: StepEnd): void {
    this.#count(workflowId, (counts) => reopenStep(counts, end));
  }

  queue(herald: Herald): void {
    this.#heralds.set(herald.id, herald);
  }

  freeKey(jobId: number): void {
    this.#keyed.push(jobId);
  }

  /** A job whose flags say so ended: somebody is to be told. */
  note({ jobId, flags, status }: { jobId: number; flags: number; status: TerminalStatus }): void {
    const wanted = status === 'failed' ? FLAG.notifiesFailure : status === 'done' ? FLAG.notifiesSuccess : 0;
    if (flags & wanted) this.#notices.push({ jobId, workflowId: null, status });
  }

  /** The expander has something to do. */
  wakeExpander(): void {
    this.#graph = true;
  }

  changed(jobId: number): void {
    this.#jobs.push(jobId);
  }

  /** Where keys take turns, this job gets one, if it can be claimed now. */
  claimable(jobId: number): void {
    this.#claimable.push(jobId);
  }

  /** A job with a key is in this queue. */
  fair(queue: string): void {
    this.#fairQueues.push(queue);
  }

  /** A new workflow: whoever looks finds what there is, now or when its first step is due. */
  wakes(dueAt?: number): void {
    this.#graph = true;
    if (dueAt === undefined) this.#work = true;
    else this.#dueAt = Math.min(dueAt, this.#dueAt ?? dueAt);
  }

  /** A job is what it is now for those who look for work. */
  stands(jobId: number, { status, due }: { status: string; due: number }): void {
    if (status === 'pending') {
      this.#work = true;
      this.#claimable.push(jobId);
    } else if (status === 'running') this.#graph = true;
    else if (status === 'scheduled') this.dueLater(due);
  }

  /** Some job is due at this instant. */
  dueLater(at: number): void {
    this.#dueAt = Math.min(at, this.#dueAt ?? at);
  }

  /** The last statements of the transaction. */
  async write(context: Context, session: Session): Promise<void> {
    const { sql } = context;
    if (this.#heralds.size > 0) {
      const heralds = [...this.#heralds.values()];
      const values = [numbers(heralds.map(({ id }) => id)), heralds.map(({ mode }) => mode)];
      const queued = await session.query(sql.queueCascade, values);
      this.#graph ||= queued.length > 0;
    }
    await this.#writeWorkflows(sql, session);
    if (this.#notices.length > 0) await insertNotices(sql, session, this.#notices);
    if (this.#keyed.length > 0) await session.query(sql.freeKeys, [numbers(this.#keyed)]);
    await giveTurnsTo(context, session, { jobIds: this.#claimable, fairQueues: this.#fairQueues });
  }

  /** Once the transaction is on disk. */
  tell({ hints, fairQueues }: Context): void {
    fairQueues.learn(this.#fairQueues);
    if (this.#jobs.length === 0 && !this.#graph && !this.#work && this.#dueAt === null) return;
    hints.tell({ jobs: this.#jobs, work: this.#work, graph: this.#graph, dueAt: this.#dueAt });
  }

  #count(workflowId: number | null, change: (counts: StepCounts) => StepCounts): void {
    if (workflowId === null) return;
    const changes = this.#steps.get(workflowId) ?? [];
    changes.push(change);
    this.#steps.set(workflowId, changes);
  }

  async #writeWorkflows(sql: Context['sql'], session: Session): Promise<void> {
    if (this.#steps.size === 0) return;
    const rows = await session.query<CountsRow>(sql.lockWorkflows, [numbers([...this.#steps.keys()])]);
    const after = rows.map((row) => {
      const before = {
        open: row.open_steps,
        fine: row.fine_steps,
        failed: row.failed_steps,
        cancelled: row.cancelled_steps,
      };
      const counts = (this.#steps.get(row.id) ?? []).reduce((sum, change) => change(sum), before);
      return { ...counts, status: workflowStatus(counts, row.started_at !== null) };
    });
    rows.forEach(({ id, notify }, place) => {
      const { open, status } = after[place] as (typeof after)[number];
      if (open > 0 || notify === null || !isWatched(notify, status)) return;
      this.#notices.push({ jobId: null, workflowId: id, status: status as TerminalStatus });
    });
    await session.query(sql.writeWorkflows, [
      numbers(rows.map(({ id }) => id)),
      numbers(after.map(({ open }) => open)),
      numbers(after.map(({ fine }) => fine)),
      numbers(after.map(({ failed }) => failed)),
      numbers(after.map(({ cancelled }) => cancelled)),
      after.map(({ status }) => status),
      this.#at,
    ]);
  }
}
