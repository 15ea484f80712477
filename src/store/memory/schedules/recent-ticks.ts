/** The newest rows of the ledgers, and the state of their runs. */

import type { RunState, Tick } from '../../../core/schedule/tick.ts';
import type { Tables } from '../base/tables.ts';
import { toWorkflow } from '../graph/workflow-row.ts';
import { type TickRow, toTick } from './rows.ts';

export function recentTicks(
  tables: Tables,
  { schedules, from, each }: { schedules: readonly string[]; from: number; each: number },
): (Tick & { schedule: string })[] {
  return [...new Set(schedules)]
    .flatMap((name) => {
      const recent = tables.schedules.get(name)?.ledger.filter(({ createdAt }) => createdAt >= from) ?? [];
      return recent.slice(-each).map((row) => ({ ...toTick(row), schedule: name }));
    })
    .sort((a, b) => b.id - a.id);
}

export function runStates(tables: Tables, tickIds: readonly number[]): (RunState & { tickId: number })[] {
  return tickIds.flatMap((tickId) => {
    const row = tables.ticks.get(tickId);
    const state = row === undefined ? null : stateOf(tables, row);
    return state === null ? [] : [{ tickId, ...state }];
  });
}

function stateOf(tables: Tables, { jobId, workflowId, outcome }: TickRow): RunState | null {
  const job = jobId === null ? undefined : tables.jobs.get(jobId);
  if (job !== undefined) return { status: job.status, startedAt: job.startedAt, endedAt: job.doneAt };
  const workflow = workflowId === null ? undefined : tables.workflows.get(workflowId);
  if (workflow !== undefined) {
    const { status, startedAt, endedAt } = toWorkflow(workflow);
    return { status, startedAt, endedAt };
  }
  return outcome === null ? null : { status: outcome, startedAt: null, endedAt: null };
}
