import { isTerminal, type ParentEnd, type RunContext } from '../../../core/job.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';

/**
 * Returns the run context of a claimed job, `null` if it has neither a workflow nor parents. `known`: ends of parents by id,
 * shared by the jobs of one claim; those of this job are added.
 */
export function runContextOf(tables: Tables, entry: Entry, known: Map<number, ParentEnd>): RunContext | null {
  const child = entry.groupId === null ? entry : (tables.jobs.get(entry.groupId) as Entry);
  if (child.parents.size === 0 && entry.workflowId === null) return null;
  const { workflowId, stepKey } = entry;
  return {
    workflow: workflowId === null || stepKey === null ? null : { id: workflowId, step: stepKey },
    params: copyJson(tables.workflows.get(entry.workflowId ?? 0)?.params ?? {}),
    item: entry.groupIndex === null ? null : { value: copyJson(entry.item), index: entry.groupIndex },
    parents: [...child.parents.keys()]
      .sort((a, b) => a - b)
      .flatMap((id) => endOf(tables.jobs.get(id) as Entry, known)),
  };
}

/** Returns nothing for a parent that runs again. */
function endOf({ id, status, stepKey, spec, result }: Entry, known: Map<number, ParentEnd>): ParentEnd[] {
  if (!isTerminal(status)) return [];
  const end = known.get(id) ?? { jobId: id, key: stepKey ?? spec.name ?? String(id), status, result: copyJson(result) };
  known.set(id, end);
  return [end];
}
