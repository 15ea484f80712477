/** The environment variables that describe a command's workflow, item, parents and tick. */

import { paramVariable, parentVariable } from '../../api/workflow/names.ts';
import type { Gang, GangContext } from '../../core/gang.ts';
import type { ParentEnd, RunContext } from '../../core/job.ts';
import type { TickOfJob } from '../../core/schedule/tick.ts';

/** Larger scalars are not set as variables, nor those that would exceed the total. */
const MAX_VALUE_BYTES = 4 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024;

export function contextVariables({ workflow, params, item, parents }: RunContext): Record<string, string> {
  const place = workflow === null ? {} : { WORKRON_WORKFLOW_ID: String(workflow.id), WORKRON_STEP: workflow.step };
  return { ...place, ...paramVariables(params), ...itemVariables(item), ...parentVariables(parents) };
}

/** The key of the tick is also the item, unless the job is an item of a step. */
export function tickVariables(tick: TickOfJob): Record<string, string> {
  return {
    WORKRON_SCHEDULE: tick.schedule,
    WORKRON_SCHEDULED_FOR: new Date(tick.scheduledFor).toISOString(),
    WORKRON_INTERVAL_START: new Date(tick.intervalStart).toISOString(),
    WORKRON_INTERVAL_END: new Date(tick.intervalEnd).toISOString(),
    WORKRON_IS_CATCHUP: String(tick.catchup),
    ...(tick.key === null ? {} : { WORKRON_KEY: tick.key, WORKRON_ITEM: tick.key }),
  };
}

/** Addresses contain no commas. */
export function gangVariables({ id, rank }: Gang, { hosts }: GangContext): Record<string, string> {
  return {
    WORKRON_GANG_ID: id,
    WORKRON_GANG_RANK: String(rank),
    WORKRON_GANG_SIZE: String(hosts.length),
    WORKRON_GANG_HOSTS: hosts.join(','),
  };
}

/** Lists have no variable: their items reach the steps of `for_each` one by one. */
function paramVariables(params: RunContext['params']): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (isScalar(value)) variables[paramVariable(name)] = String(value);
  }
  return variables;
}

/** Text is passed as it is, all else as JSON. */
function itemVariables(item: RunContext['item']): Record<string, string> {
  if (item === null) return {};
  const { value, index } = item;
  return {
    WORKRON_ITEM: typeof value === 'string' ? value : JSON.stringify(value ?? null),
    WORKRON_INDEX: String(index),
  };
}

/**
 * The scalars in the results of the parents, in order, up to the size limits; the first of two with the same name wins.
 * All results are in `$WORKRON_PARENTS`.
 */
function parentVariables(parents: readonly ParentEnd[]): Record<string, string> {
  const variables: Record<string, string> = {};
  let left = MAX_TOTAL_BYTES;
  for (const { key, result } of parents) {
    if (typeof result !== 'object' || result === null || Array.isArray(result)) continue;
    for (const [resultKey, value] of Object.entries(result)) {
      const name = parentVariable(key, resultKey);
      if (!isScalar(value) || Object.hasOwn(variables, name)) continue;
      const text = String(value);
      const bytes = Buffer.byteLength(text);
      if (bytes > MAX_VALUE_BYTES || bytes > left) continue;
      left -= bytes;
      variables[name] = text;
    }
  }
  return variables;
}

/** The content of `$WORKRON_PARENTS`: how each parent ended, by its key, or by its id if the key is taken. */
export function parentsDocument(parents: readonly ParentEnd[]): string {
  const document = new Map<string, object>();
  for (const { jobId, key, status, result } of parents) {
    document.set(document.has(key) ? String(jobId) : key, { job_id: String(jobId), status, result: result ?? null });
  }
  return `${JSON.stringify(Object.fromEntries(document))}\n`;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
