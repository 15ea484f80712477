import { isTerminal } from '../../../core/job.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { isNeeded, remove, removeWorkflow } from '../cluster/prune.ts';

export function deleteJobs(tables: Tables, ids: readonly number[]): number[] {
  return ids.filter((id) => {
    const entry = tables.jobs.get(id);
    if (entry === undefined || entry.workflowId !== null || entry.spec.gang !== null) return false;
    if (!isDeletable(tables, entry)) return false;
    (entry.status === 'done' ? tables.done : tables.undone).delete(entry);
    remove(tables, entry);
    return true;
  });
}

export function deleteWorkflow(tables: Tables, id: number): boolean {
  const row = tables.workflows.get(id);
  if (row === undefined || row.endedAt === null || isUntold(tables, { workflowId: id })) return false;
  if ([...row.jobs].some((entry) => !isDeletable(tables, entry))) return false;
  removeWorkflow(tables, row);
  return true;
}

function isDeletable(tables: Tables, entry: Entry): boolean {
  const { id, status } = entry;
  return isTerminal(status) && !isNeeded(tables, entry) && !tables.places.has(id) && !isUntold(tables, { jobId: id });
}

/** True if the notifications of its end have not been written yet. */
function isUntold({ notices }: Tables, about: { jobId: number } | { workflowId: number }): boolean {
  return notices.values().some(({ kind, jobId, workflowId }) => {
    if (kind !== 'ended') return false;
    return 'jobId' in about ? jobId === about.jobId : workflowId === about.workflowId;
  });
}
