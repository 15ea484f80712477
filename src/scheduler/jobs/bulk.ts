/**
 * Bulk operations: cancel, retry or delete all jobs that match a filter, in batches, with visible progress and across restarts.
 */

import type { AuditResult } from '../../core/audit.ts';
import { WorkronError } from '../../core/error.ts';
import { isTerminal, TERMINAL_STATUSES } from '../../core/job.ts';
import type { JobFilter } from '../../core/job-filter.ts';
import { auditEntryOf, type NewOperation, type Operation } from '../../core/operation.ts';
import type { Loop } from '../../ops/loop.ts';
import type { Wake } from '../../ops/wake.ts';
import type { SchedulerContext } from '../context.ts';
import { cancelGangs } from './cancel-gangs.ts';
import { decide } from './decide.ts';
import { type Member, retriedTogether } from './retry-gangs.ts';

const MAX_COUNTED = 1_000_000;
const BATCH = 500;
/** The operation may have been created at another instance. */
const SHARED_POLL_MS = 1_000;
const EXCLUSIVE_POLL_MS = 5_000;

export interface BulkRequest extends Omit<NewOperation, 'total'> {
  dryRun: boolean;
}

export async function startBulk(
  context: SchedulerContext,
  { action, filter, askedBy, dryRun }: BulkRequest,
  signal: AbortSignal,
): Promise<{ total: number; operation: Operation | null }> {
  const matching = action === 'delete' ? endedOf(filter) : filter;
  const total = await context.store.count(matching, MAX_COUNTED, signal);
  if (dryRun) return { total, operation: null };
  return {
    total,
    operation: await context.store.createOperation({ action, filter: matching, total, askedBy }, signal),
  };
}

/** Only ended jobs are deleted, so only these are counted. Throws `bad_request` if the filter is about others. */
function endedOf(filter: JobFilter): JobFilter {
  const statuses = (filter.statuses ?? TERMINAL_STATUSES).filter(isTerminal);
  if (statuses.length > 0) return { ...filter, statuses };
  throw new WorkronError('bad_request', 'Only ended jobs can be deleted: done, failed, cancelled or skipped', {
    errors: [
      { pointer: '/filter/status', detail: `expected ${TERMINAL_STATUSES.join(', ')}: only ended jobs are deleted` },
    ],
  });
}

export async function readOperation(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Operation> {
  const operation = await context.store.operation(id, signal);
  if (operation === undefined) throw new WorkronError('operation_not_found', `No operation ${id}`);
  return operation;
}

/** The duty that carries out open operations, by descending id, so that retried jobs are not visited again. */
export function bulkRunner(context: SchedulerContext, wake: Wake): Loop {
  return {
    name: 'bulk',
    everyMs: context.store.exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS,
    wake,
    async tick(signal) {
      const open = await context.store.openOperations(signal);
      const failures: unknown[] = [];
      for (const operation of open) {
        signal.throwIfAborted();
        await step(context, operation, signal).catch((error: unknown) => failures.push(error));
      }
      // Thrown after all operations had their turn, so that one that always fails does not hold up the others.
      if (failures.length > 0) throw failures[0];
      return open.length > 0 ? 0 : undefined;
    },
  };
}

async function step(context: SchedulerContext, operation: Operation, signal: AbortSignal): Promise<void> {
  const { filter, cursor } = operation;
  const jobs = await context.store.list(filter, { before: cursor, limit: BATCH }, signal);
  const ids = jobs.map(({ id }) => id);
  const changed = await changeWithAudit(context, operation, jobs, signal);
  const last = jobs.length < BATCH;
  await context.store.advanceOperation(
    operation.id,
    cursor,
    { cursor: ids.at(-1) ?? cursor, changed, skipped: ids.length - changed, status: last ? 'done' : 'running' },
    signal,
  );
}

/**
 * Each job has its own entry in the audit, from which its history says who changed it. If the process ends between entry and result, the
 * result is unknown, and the batch is run again.
 */
async function changeWithAudit(
  context: SchedulerContext,
  operation: Operation,
  jobs: readonly Member[],
  signal: AbortSignal,
): Promise<number> {
  const { store } = context;
  const ids = jobs.map(({ id }) => id);
  const audited = ids.flatMap((id) => auditEntryOf(operation, id));
  const entries = audited.length === 0 ? [] : await store.addAudit(audited, signal);
  const changed = new Set(await changeJobs(context, operation.action, jobs, signal));
  const made = entries.filter((_, index) => changed.has(ids[index] as number));
  const refused = entries.filter((_, index) => !changed.has(ids[index] as number));
  const end = (entries: readonly number[], result: AuditResult) =>
    entries.length === 0 ? undefined : store.endAudit(entries, { result, details: null }, signal);
  await end(made, 'ok');
  await end(refused, 'illegal_transition');
  return changed.size;
}

/** Returns the ids of those that were changed. */
async function changeJobs(
  context: SchedulerContext,
  action: Operation['action'],
  jobs: readonly Member[],
  signal: AbortSignal,
): Promise<number[]> {
  const ids = jobs.map(({ id }) => id);
  if (action === 'delete') return ids.length === 0 ? [] : await context.store.deleteJobs(ids, signal);
  const all = action === 'retry' ? await withMembers(context, jobs, signal) : ids;
  const decisions = await decide(context, all, () => ({ type: action }), signal);
  const changed = decisions.flatMap((decision) => (decision.type === 'changed' ? [decision.job] : []));
  if (action === 'cancel') await cancelGangs(context, changed, signal);
  return changed.map(({ id }) => id).filter((id) => ids.includes(id));
}

/** Gangs that cannot be retried are left out. */
async function withMembers(context: SchedulerContext, jobs: readonly Member[], signal: AbortSignal): Promise<number[]> {
  const { single, gangs } = await retriedTogether(context, jobs, { lenient: true }, signal);
  return [...single, ...gangs.flat()];
}
