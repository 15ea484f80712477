/**
 * The effects of a transaction beside the jobs that it changes: counts of workflows, keys to release, cascade entries, notices,
 * and the hints to publish after the commit. They are written last, see 'Lock order' in docs/architecture.md.
 */

import type { CascadeMode } from '../../../core/dag/propagate.ts';
import { type StepCounts, type StepEnd, WorkflowChanges } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { isWatched, type Notify } from '../../../core/notify.ts';
import { FLAG, noticeFlag } from '../../flags.ts';
import type { SideEffects } from '../../hint.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { type EndNotice, insertNotices } from '../cluster/notices.ts';
import { releaseMeters } from '../jobs/meters.ts';
import { giveTurnsTo } from '../jobs/turns.ts';

/** A row of `cascade`: a job whose state still has to reach its children. */
export interface CascadeEntry {
  id: number;
  mode: CascadeMode;
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

export class TransactionEffects {
  readonly #workflows = new WorkflowChanges();
  readonly #cascade = new Map<number, CascadeEntry>();
  readonly #keyed: number[] = [];
  readonly #limited: number[] = [];
  readonly #returned: number[] = [];
  readonly #notices: EndNotice[] = [];
  readonly #jobs: number[] = [];
  readonly #workers: number[] = [];
  readonly #claimable: number[] = [];
  readonly #fairQueues: string[] = [];
  readonly #sideEffects: SideEffects = { ended: [], items: [] };
  #work = false;
  #graph = false;
  #schedules = false;
  /** True if the settings of a queue changed. */
  queues = false;
  #dueAt: number | null = null;
  #at = 0;

  /** Sets the instant of these changes; the latest one counts. */
  at(instant: number): void {
    this.#at = Math.max(this.#at, instant);
  }

  /** `workflowId` is `null` for a job that is not a step. */
  stepEnded(workflowId: number | null, end: StepEnd): void {
    this.#workflows.end(workflowId, end);
  }

  stepReopened(workflowId: number | null, end: StepEnd): void {
    this.#workflows.reopen(workflowId, end);
  }

  queueCascade(entry: CascadeEntry): void {
    this.#cascade.set(entry.id, entry);
  }

  freeKey(jobId: number): void {
    this.#keyed.push(jobId);
  }

  /** An attempt has ended: jobs that wait for its limits may start, and for its rates if it was returned unstarted. */
  attemptEnded(jobId: number, { flags, returned }: { flags: number; returned: boolean }): void {
    if (flags & FLAG.hasLimits) this.#limited.push(jobId);
    if (returned) this.#returned.push(jobId);
    if (flags & FLAG.hasLimits || returned) this.#work = true;
  }

  /** Adds a notice of the job's end where its flags ask for one. */
  noteEnd({ jobId, flags, status }: { jobId: number; flags: number; status: TerminalStatus }): void {
    if (flags & noticeFlag(status)) this.#notices.push({ jobId, workflowId: null, status });
  }

  /** Records that there is something to cascade or to expand. */
  changedGraph(): void {
    this.#graph = true;
  }

  /** Records that a schedule may be due earlier than was known. */
  changedSchedule(): void {
    this.#schedules = true;
  }

  /** Records that the settings of a queue changed, so that more of its jobs may run. */
  changedQueue(): void {
    this.queues = true;
    this.#work = true;
  }

  /** Records that jobs may have become claimable. */
  madeWork(): void {
    this.#work = true;
  }

  /** Records that more of the claimable jobs may run. */
  madeRoom(): void {
    this.#work = true;
  }

  changedJob(jobId: number): void {
    this.#jobs.push(jobId);
  }

  /** Records that the answer to a worker's next heartbeat has something to act on. */
  changedWorker(workerId: number): void {
    this.#workers.push(workerId);
  }

  /** Records that a job ended because of others. */
  endedByGraph(jobId: number): void {
    this.#sideEffects.ended.push(jobId);
  }

  insertedItems(groupId: number, count: number): void {
    this.#sideEffects.items.push({ groupId, count });
  }

  /** Gives the job a turn where its queue is fair and it can be claimed now. */
  claimable(jobId: number): void {
    this.#claimable.push(jobId);
  }

  /** Records that a job with a fair key was added to this queue. */
  addedFairQueue(queue: string): void {
    this.#fairQueues.push(queue);
  }

  /** Records that a workflow was added. Its first steps are due at `dueAt`, or now. */
  addedWorkflow(dueAt?: number): void {
    this.#graph = true;
    if (dueAt === undefined) this.#work = true;
    else this.willBeDue(dueAt);
  }

  /** Records the hint for a job with this status. A running job is a group that was freed. */
  jobIs(jobId: number, { status, due }: { status: string; due: number }): void {
    if (status === 'pending') {
      this.#work = true;
      this.#claimable.push(jobId);
    } else if (status === 'running') this.#graph = true;
    else if (status === 'scheduled') this.willBeDue(due);
  }

  willBeDue(at: number): void {
    this.#dueAt = Math.min(at, this.#dueAt ?? at);
  }

  /** Runs the last statements of the transaction. */
  async write(context: Context, session: Session): Promise<void> {
    const { sql } = context;
    if (this.#cascade.size > 0) {
      const queued = await session.query(sql.queueCascade, entryColumns([...this.#cascade.values()]));
      this.#graph ||= queued.length > 0;
    }
    await this.#writeWorkflows(sql, session);
    if (this.#notices.length > 0) await insertNotices(sql, session, this.#notices);
    if (this.#keyed.length > 0) await session.query(sql.freeKeys, [numbers(this.#keyed)]);
    await giveTurnsTo(context, session, { jobIds: this.#claimable, fairQueues: this.#fairQueues });
    await releaseMeters(sql, session, { limited: this.#limited, returned: this.#returned });
  }

  /** Publishes the hints. Called after the commit. */
  publish({ hints, fairQueues }: Context): void {
    fairQueues.learn(this.#fairQueues);
    const [work, graph, schedules] = [this.#work, this.#graph, this.#schedules];
    const changed = this.#jobs.length + this.#workers.length;
    if (changed === 0 && !graph && !work && !schedules && this.#dueAt === null) return;
    const { ended, items } = this.#sideEffects;
    const sideEffects = ended.length + items.length > 0 ? this.#sideEffects : null;
    const [jobs, workers] = [this.#jobs, this.#workers];
    hints.announce({ jobs, workers, work, graph, schedules, dueAt: this.#dueAt, sideEffects });
  }

  async #writeWorkflows(sql: Context['sql'], session: Session): Promise<void> {
    const { ids } = this.#workflows;
    if (ids.length === 0) return;
    const rows = await session.query<CountsRow>(sql.lockWorkflows, [numbers(ids)]);
    const after = rows.map((row) => this.#workflows.apply(row.id, stepCountsOf(row), row.started_at !== null));
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

export function entryColumns(entries: readonly CascadeEntry[]): [string, string[]] {
  return [numbers(entries.map(({ id }) => id)), entries.map(({ mode }) => mode)];
}

function stepCountsOf(row: CountsRow): StepCounts {
  return { open: row.open_steps, fine: row.fine_steps, failed: row.failed_steps, cancelled: row.cancelled_steps };
}
