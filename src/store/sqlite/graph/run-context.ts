/** The run contexts of claimed jobs. */

import type { ParentEnd, RunContext, TerminalStatus } from '../../../core/job.ts';
import { HAS_RUN_CONTEXT } from '../../flags.ts';
import { itemOf, type StoredSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { CLAIMED, type ClaimedRow } from '../reads/job-row.ts';

type PlaceRow = readonly [
  jobId: number,
  workflowId: number | null,
  childId: number,
  index: number | null,
  stepKey: string | null,
];
type ParentRow = readonly [
  childId: number,
  jobId: number,
  key: string | number,
  status: TerminalStatus,
  result: string | null,
];

/** Data that the jobs of a claim share: parameters by workflow, parents by child. */
export interface RunContextAnswer {
  places: PlaceRow[];
  params: (readonly [workflowId: number, params: string])[];
  parents: ParentRow[];
}

/** Reads the run contexts, and marks workflows with claimed steps as started. */
export function readRunContext(context: Context, claimed: readonly ClaimedRow[]): RunContextAnswer | null {
  const { database, now } = context;
  const ids = claimed.filter((row) => row[CLAIMED.flags] & HAS_RUN_CONTEXT).map(([id]) => id);
  if (ids.length === 0) return null;
  const places = database.tuples<PlaceRow>(sql.claimedPlaces, JSON.stringify(ids));
  const workflows = JSON.stringify([...new Set(places.flatMap(([, workflowId]) => workflowId ?? []))]);
  const children = JSON.stringify([...new Set(places.map(([, , childId]) => childId))]);
  if (workflows !== '[]') database.run(sql.beginWorkflows, workflows, now);
  return {
    places,
    params: workflows === '[]' ? [] : database.tuples(sql.paramsOf, workflows),
    parents: database.tuples(sql.parentEnds, children),
  };
}

/**
 * Returns the run contexts by job. Jobs of one workflow share its parameters, items of one group its parents. The `item` is
 * in the spec of the claimed row.
 */
export function decodeRunContext(
  answer: RunContextAnswer,
  specs: ReadonlyMap<number, string>,
): Map<number, RunContext> {
  const params = new Map(answer.params.map(([id, text]) => [id, JSON.parse(text) as Record<string, unknown>]));
  const parents = new Map<number, ParentEnd[]>();
  for (const row of answer.parents) {
    const [childId] = row;
    const ends = parents.get(childId) ?? [];
    ends.push(decodeParent(row));
    parents.set(childId, ends);
  }
  return new Map(
    answer.places.map(([jobId, workflowId, childId, index, stepKey]) => [
      jobId,
      {
        workflow: workflowId === null || stepKey === null ? null : { id: workflowId, step: stepKey },
        params: params.get(workflowId ?? 0) ?? {},
        item: index === null ? null : { value: itemOf(JSON.parse(specs.get(jobId) ?? '{}') as StoredSpec), index },
        parents: parents.get(childId) ?? [],
      },
    ]),
  );
}

function decodeParent([, jobId, key, status, result]: ParentRow): ParentEnd {
  return { jobId, key: String(key), status, result: result === null ? null : JSON.parse(result) };
}
