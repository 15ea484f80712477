/** Jobs in one SQLite file. This side only encodes, asks the threads and decodes. */

import { resolve } from 'node:path';
import type { Clock } from '../../../core/clock.ts';
import type { NewWorkflow } from '../../../core/dag/new-workflow.ts';
import type { Workflow, WorkflowFilter, WorkflowStep } from '../../../core/dag/workflow.ts';
import type { NewInstance } from '../../../core/instance.ts';
import type { ClaimedJob, Job, NewJob } from '../../../core/job.ts';
import type { JobEdit } from '../../../core/job-edit.ts';
import type { JobFilter } from '../../../core/job-filter.ts';
import type { Fence } from '../../../core/leadership.ts';
import type { Heartbeat, Report, Settled, Start, Success } from '../../../core/lease.ts';
import type { Delivery, NotificationFilter } from '../../../core/notice.ts';
import type { NewOperation, OperationStep } from '../../../core/operation.ts';
import type { LogChunk } from '../../../core/output.ts';
import type { QueueSettings, QueueState } from '../../../core/queue.ts';
import type { NewSchedule } from '../../../core/schedule/schedule.ts';
import type { StatRow } from '../../../core/stats.ts';
import type { Change } from '../../../core/transition.ts';
import type { NewWorker } from '../../../core/worker.ts';
import type { LeadRequest } from '../../cluster-store.ts';
import type { LostJob, Retention } from '../../duty-store.ts';
import { type Changed, type Hint, LocalHints } from '../../hint.ts';
import type { ClaimRequest, Inserted, InsertedAndClaimed, InsertOptions } from '../../job-store.ts';
import type { ChangeRequest, RunRequest, ScheduleFilter, TickFilter, TickRequest } from '../../schedule-store.ts';
import type { Store } from '../../store.ts';
import type { Transactional } from '../../transactional.ts';
import type { StepPage } from '../../workflow-store.ts';
import { transactional } from '../graph/enlist.ts';
import { encodeNewWorkflowInTurns } from '../graph/new-workflow.ts';
import { decodeRunContext } from '../graph/run-context.ts';
import { decodeStep } from '../graph/workflows.ts';
import type { ClaimAnswer } from '../jobs/claim.ts';
import { insertCall } from '../jobs/insert-call.ts';
import type { ReadLogInput } from '../jobs/logs.ts';
import { encodeNewJobs } from '../jobs/new-job-row.ts';
import type { SettledRow } from '../jobs/settle.ts';
import { encodeSuccess, settledInOrder } from '../jobs/success-row.ts';
import { type ClaimedRow, decodeClaimedJob, decodeJob } from '../reads/job-row.ts';
import type { ReaderMethods } from './reader-methods.ts';
import { type Calls, Thread } from './thread.ts';
import { WRITER_READS, type WriterMethods } from './writer-methods.ts';

export interface SqliteOptions {
  file: string;
  clock: Clock;
}

export class SqliteStore implements Store {
  readonly driver = 'sqlite';
  readonly exclusive = true;
  readonly leaseKeeper = null;
  readonly transactional: Transactional;
  readonly location: string;
  readonly #clock: Clock;
  readonly #writer: Calls<WriterMethods>;
  readonly #reader: Calls<ReaderMethods>;
  readonly #hints: LocalHints;

  private constructor(
    options: SqliteOptions,
    threads: { writer: Calls<WriterMethods>; reader: Calls<ReaderMethods> },
    hints: LocalHints,
  ) {
    this.location = options.file;
    this.#clock = options.clock;
    this.transactional = transactional(options.clock);
    this.#writer = threads.writer;
    this.#reader = threads.reader;
    this.#hints = hints;
  }

  deadlocks(): number {
    return 0;
  }

  static async open(options: SqliteOptions): Promise<SqliteStore> {
    const { clock } = options;
    const file = resolve(options.file);
    const hints = new LocalHints();
    const onChanged = (changed: Changed) => hints.announce(changed);
    const writer = await Thread.start<WriterMethods>({ entry: 'writer', data: { file }, clock, onChanged });
    try {
      const reader = await Thread.start<ReaderMethods>({ entry: 'reader', data: { file }, clock });
      return new SqliteStore({ file, clock }, { writer, reader }, hints);
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  now(signal: AbortSignal): Promise<number> {
    return this.#writer.call('now', undefined, signal);
  }

  async insert(jobs: readonly NewJob[], options: InsertOptions, signal: AbortSignal): Promise<Inserted> {
    signal.throwIfAborted();
    const { input, decode } = insertCall(jobs, this.#clock.now(), options);
    return decode(await this.#writer.call('insert', input, signal));
  }

  async insertAndClaim(
    jobs: readonly NewJob[],
    request: ClaimRequest,
    signal: AbortSignal,
  ): Promise<InsertedAndClaimed> {
    signal.throwIfAborted();
    const { input, decode } = insertCall(jobs, this.#clock.now());
    const { inserted, claimed } = await this.#writer.call('insertAndClaim', { jobs: input, request }, signal);
    return { items: decode(inserted).items, claimed: claimed === null ? [] : decodeClaimed(claimed, request) };
  }

  async claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]> {
    return decodeClaimed(await this.#writer.call('claim', request, signal), request);
  }

  start(starts: readonly Start[], signal: AbortSignal): Promise<void> {
    return this.#writer.call('start', starts, signal);
  }

  heartbeat(beat: Heartbeat, signal: AbortSignal) {
    return this.#writer.call('heartbeat', beat, signal);
  }

  async settle(successes: readonly Success[], signal: AbortSignal): Promise<Settled[]> {
    const rows = successes.map(encodeSuccess);
    const input = { rows: JSON.stringify(rows), count: rows.length, hasResults: rows.some((row) => row[4] !== null) };
    const settled = JSON.parse(await this.#writer.call('settle', input, signal)) as SettledRow[];
    return settledInOrder(successes, settled);
  }

  async applyChanges(changes: readonly Change[], signal: AbortSignal): Promise<(Job | undefined)[]> {
    const rows = await this.#writer.call('applyChanges', changes, signal);
    return rows.map((row) => (row === undefined ? undefined : decodeJob(row)));
  }

  async edit(jobId: number, wanted: JobEdit, signal: AbortSignal): Promise<Job | undefined> {
    const row = await this.#writer.call('edit', { jobId, wanted }, signal);
    return row === undefined ? undefined : decodeJob(row);
  }

  promote(limit: number, signal: AbortSignal) {
    return this.#writer.call('promote', limit, signal);
  }

  async findExpired(limit: number, signal: AbortSignal): Promise<Job[]> {
    return (await this.#writer.call('findExpired', limit, signal)).map(decodeJob);
  }

  async findLost(request: { limit: number; dead: readonly number[] }, signal: AbortSignal): Promise<LostJob[]> {
    const lost = await this.#writer.call('findLost', request, signal);
    return lost.map(([row, workerSeenAt]) => ({ job: decodeJob(row), workerSeenAt }));
  }

  async findUnlocked(signal: AbortSignal) {
    signal.throwIfAborted();
    return { workers: [], serverUpMs: 0 };
  }

  graphWork(signal: AbortSignal) {
    return this.#reader.call('graphWork', undefined, signal);
  }

  cascade(limit: number, signal: AbortSignal) {
    return this.#writer.call('cascade', limit, signal);
  }

  expand(limit: number, signal: AbortSignal) {
    return this.#writer.call('expand', limit, signal);
  }

  /** An application's transaction keeps writers out until it ends, so the writer is asked only if there is something. */
  async adopt(limit: number, signal: AbortSignal): Promise<number> {
    const waiting = await this.#reader.call('hasIntake', undefined, signal);
    return waiting ? this.#writer.call('adopt', limit, signal) : 0;
  }

  retireWorkers(forgetAfterMs: number, signal: AbortSignal) {
    return this.#writer.call('retireWorkers', forgetAfterMs, signal);
  }

  async prune(retention: Retention, limit: number, signal: AbortSignal): Promise<number> {
    const old = await this.#reader.call('findOld', { retention, limit }, signal);
    return this.#writer.call('prune', { retention, old, limit }, signal);
  }

  notices(limit: number, signal: AbortSignal) {
    return this.#writer.call('notices', limit, signal);
  }

  postponeNotice(noticeId: number, forMs: number, signal: AbortSignal): Promise<void> {
    return this.#writer.call('postponeNotice', { noticeId, forMs }, signal);
  }

  async deliver(noticeId: number, { alarm, messages }: Delivery, signal: AbortSignal): Promise<Job[] | undefined> {
    signal.throwIfAborted();
    const now = this.#clock.now();
    const encoded = messages.map(({ event, job }) => ({ event, ...encodeNewJobs([job], now) }));
    const ids = await this.#writer.call('deliver', { noticeId, alarm, messages: encoded, now }, signal);
    return ids === undefined ? undefined : this.read(ids, signal);
  }

  notifications(about: NotificationFilter, signal: AbortSignal) {
    return this.#reader.call('notifications', about, signal);
  }

  async read(ids: readonly number[], signal: AbortSignal): Promise<Job[]> {
    return (await this.#writer.call('read', ids, signal)).map(decodeJob);
  }

  async list(
    filter: JobFilter,
    { before, limit }: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Job[]> {
    return (await this.#reader.call('list', { filter, before, limit }, signal)).map(decodeJob);
  }

  count(filter: JobFilter, atMost: number, signal: AbortSignal) {
    return this.#reader.call('count', { filter, atMost }, signal);
  }

  attempts(jobId: number, signal: AbortSignal) {
    return this.#reader.call('attempts', jobId, signal);
  }

  countAhead(jobId: number, atMost: number, signal: AbortSignal) {
    return this.#reader.call('countAhead', { jobId, atMost }, signal);
  }

  async insertWorkflow(workflow: NewWorkflow, options: InsertOptions, signal: AbortSignal) {
    signal.throwIfAborted();
    const now = this.#clock.now();
    const encoded = await encodeNewWorkflowInTurns(workflow, now);
    const handedOver = encoded.pieces.flatMap(({ jobs, steps }) => [jobs.buffer, steps.buffer]);
    return this.#writer.call('insertWorkflow', { ...options, ...encoded, now }, signal, { handedOver });
  }

  workflow(id: number, signal: AbortSignal) {
    return this.#writer.call('workflow', id, signal);
  }

  workflows(
    filter: WorkflowFilter,
    { before, limit }: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Workflow[]> {
    return this.#reader.call('workflows', { filter, before, limit }, signal);
  }

  async steps(workflowId: number, signal: AbortSignal, page?: StepPage): Promise<WorkflowStep[]> {
    return (await this.#reader.call('steps', { workflowId, page }, signal)).map(decodeStep);
  }

  createSchedule(schedule: NewSchedule, signal: AbortSignal) {
    return this.#writer.call('createSchedule', schedule, signal);
  }

  changeSchedule(name: string, request: ChangeRequest, signal: AbortSignal) {
    return this.#writer.call('changeSchedule', { name, request }, signal);
  }

  deleteSchedule(name: string, signal: AbortSignal) {
    return this.#writer.call('deleteSchedule', name, signal);
  }

  schedule(name: string, signal: AbortSignal) {
    return this.#writer.call('schedule', name, signal);
  }

  schedules(filter: ScheduleFilter, page: { after: string | null; limit: number }, signal: AbortSignal) {
    return this.#reader.call('schedules', { filter, ...page }, signal);
  }

  runSchedule(name: string, request: RunRequest, options: InsertOptions, signal: AbortSignal) {
    return this.#writer.call('runSchedule', { ...options, name, request }, signal);
  }

  ticksWithoutRun(name: string, request: { key: string; instants: readonly number[] }, signal: AbortSignal) {
    return this.#writer.call('ticksWithoutRun', { name, ...request }, signal);
  }

  tick(request: TickRequest, signal: AbortSignal) {
    return this.#writer.call('tick', request, signal);
  }

  stoppedOthers(tickIds: readonly number[], signal: AbortSignal): Promise<void> {
    return this.#writer.call('stoppedOthers', tickIds, signal);
  }

  ticks(name: string, filter: TickFilter, page: { before: number | null; limit: number }, signal: AbortSignal) {
    return this.#reader.call('ticks', { name, filter, ...page }, signal);
  }

  pruneTicks(keepMs: number, limit: number, signal: AbortSignal) {
    return this.#writer.call('pruneTicks', { keepMs, limit }, signal);
  }

  appendLogs(chunks: readonly LogChunk[], signal: AbortSignal) {
    return this.#writer.call('appendLogs', chunks, signal);
  }

  readLog(request: ReadLogInput, signal: AbortSignal) {
    return this.#reader.call('readLog', request, signal);
  }

  report(reports: readonly Report[], signal: AbortSignal) {
    return this.#writer.call('report', reports, signal);
  }

  async checkpoint(jobId: number, signal: AbortSignal): Promise<unknown> {
    const text = await this.#writer.call('checkpoint', jobId, signal);
    return text === null ? null : JSON.parse(text);
  }

  queues(signal: AbortSignal) {
    return this.#reader.call('queues', null, signal);
  }

  async setQueue(name: string, settings: Partial<QueueSettings>, signal: AbortSignal): Promise<QueueState> {
    await this.#writer.call('setQueue', { name, settings }, signal);
    // Counting its jobs is a longer read.
    const [state] = await this.#reader.call('queues', name, signal);
    return state as QueueState;
  }

  registerWorker(worker: NewWorker, signal: AbortSignal) {
    return this.#writer.call('registerWorker', worker, signal);
  }

  workers(signal: AbortSignal) {
    return this.#reader.call('workers', undefined, signal);
  }

  drainWorker(id: number, signal: AbortSignal) {
    return this.#writer.call('drainWorker', id, signal);
  }

  leaveWorker(id: number, signal: AbortSignal): Promise<void> {
    return this.#writer.call('leaveWorker', id, signal);
  }

  addStats(rows: readonly StatRow[], signal: AbortSignal): Promise<void> {
    return this.#writer.call('addStats', rows, signal);
  }

  stats(range: { from: number; to: number }, signal: AbortSignal) {
    return this.#reader.call('stats', range, signal);
  }

  createOperation(operation: NewOperation, signal: AbortSignal) {
    return this.#writer.call('createOperation', operation, signal);
  }

  operation(id: number, signal: AbortSignal) {
    return this.#writer.call('operation', id, signal);
  }

  openOperations(signal: AbortSignal) {
    return this.#writer.call('openOperations', undefined, signal);
  }

  advanceOperation(id: number, from: number | null, step: OperationStep, signal: AbortSignal) {
    return this.#writer.call('advanceOperation', { id, from, step }, signal);
  }

  lead(request: LeadRequest, signal: AbortSignal) {
    return this.#writer.call('lead', request, signal);
  }

  resign(instanceId: string, signal: AbortSignal): Promise<void> {
    return this.#writer.call('resign', instanceId, signal);
  }

  duties(signal: AbortSignal) {
    return this.#reader.call('duties', undefined, signal);
  }

  fenced(fence: () => Fence): SqliteStore {
    const options = { file: this.location, clock: this.#clock };
    return new SqliteStore(
      options,
      { writer: this.#writer.fenced(fence, WRITER_READS), reader: this.#reader },
      this.#hints,
    );
  }

  beatInstance(instance: NewInstance, signal: AbortSignal): Promise<void> {
    return this.#writer.call('beatInstance', instance, signal);
  }

  instances(signal: AbortSignal) {
    return this.#reader.call('instances', undefined, signal);
  }

  leaveInstance(id: string, signal: AbortSignal): Promise<void> {
    return this.#writer.call('leaveInstance', id, signal);
  }

  forgetInstances(silentMs: number, signal: AbortSignal) {
    return this.#writer.call('forgetInstances', silentMs, signal);
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    return this.#hints.subscribe(listener);
  }

  /** Copies everything as of one moment into `file`, which must not exist, while others go on working. */
  async backup(file: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const data = { file: this.location, target: resolve(file) };
    const copying = await Thread.start({ entry: 'backup', data, clock: this.#clock });
    await copying.ended;
  }

  /** Calls in flight are answered first. The file is left whole, without its write-ahead log. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}

function decodeClaimed({ rows, startedAt, runContext }: ClaimAnswer, { prefetch = false }: ClaimRequest): ClaimedJob[] {
  const claimed = JSON.parse(rows) as ClaimedRow[];
  if (runContext === null) return claimed.map((row) => decodeClaimedJob(row, { startedAt, prefetch }));
  const around = decodeRunContext(runContext, new Map(claimed.map((row) => [row[0], row[9]])));
  return claimed.map((row) => decodeClaimedJob(row, { startedAt, prefetch }, around.get(row[0]) ?? null));
}
