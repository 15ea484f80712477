import { isTerminal, type ParentEnd, type RunContext } from '../../../core/job.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';

/**
 * What a job that is claimed can know of those around it; `null` where it stands alone. `told`: ends of parents, by id, that
 * jobs of the same claim share; those of this one are added.
 */
export function runContextOf(tables: Tables, entry: Entry, told: Map<number, ParentEnd>): RunContext | null {
  const child = entry.groupId === null ? entry : (tables.jobs.get(entry.groupId) as Entry);
  if (child.parents.size === 0 && entry.workflowId === null) return null;
  return {
    params: copyJson(tables.workflows.get(entry.workflowId ?? 0)?.params ?? {}),
    item: entry.groupIndex === null ? null : { value: copyJson(entry.item), index: entry.groupIndex },
    parents: [...child.parents.keys()].sort((a, b) => a - b).flatMap((id) => endOf(tables.jobs.get(id) as Entry, told)),
  };
}

/** None for a parent that runs again. */
function endOf({ id, status, stepKey, spec, result }: Entry, told: Map<number, ParentEnd>): ParentEnd[] {
  if (!isTerminal(status)) return [];
  const end = told.get(id) ?? { jobId: id, key: stepKey ?? spec.name ?? String(id), status, result: copyJson(result) };
  told.set(id, end);
  return [end];
}
