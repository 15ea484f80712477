import { forItems } from '../../core/dag/item-parents.ts';
import { isTerminal, type ParentEnd, type Surroundings } from '../../core/job.ts';
import { copyJson } from './copy.ts';
import type { Entry } from './entry.ts';
import type { Tables } from './tables.ts';

/** What a job that is claimed can know of those around it; `null` where it stands alone. */
export function surroundingsOf(tables: Tables, entry: Entry): Surroundings | null {
  const child = entry.groupId === null ? entry : (tables.jobs.get(entry.groupId) as Entry);
  if (child.parents.size === 0 && entry.workflowId === null) return null;
  const parents = [...child.parents.keys()].sort((a, b) => a - b).flatMap((id) => endOf(tables.jobs.get(id) as Entry));
  return {
    params: copyJson(tables.workflows.get(entry.workflowId ?? 0)?.params ?? {}),
    item: entry.groupIndex === null ? null : { value: copyJson(entry.item), index: entry.groupIndex },
    parents: copyEnds(entry.groupId === null ? parents : forItems(parents)),
  };
}

/** None for a parent that runs again. */
function endOf({ id, status, stepKey, spec, result }: Entry): ParentEnd[] {
  if (!isTerminal(status)) return [];
  return [{ jobId: id, key: stepKey ?? spec.name ?? String(id), status, result }];
}

function copyEnds(ends: readonly ParentEnd[]): ParentEnd[] {
  return ends.map((end) => ({ ...end, result: copyJson(end.result) }));
}
