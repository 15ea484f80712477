/** The methods of this store as functions of their context. */

import type { LeadRequest } from '../../cluster-store.ts';
import type { Hint, SideEffects } from '../../hint.ts';
import { deleteLanes, markLanes } from '../cluster/lanes.ts';
import { leaveWorker, registerWorker } from '../cluster/workers.ts';
import { insertWorkflow } from '../graph/insert-workflow.ts';
import { claim } from '../jobs/claim.ts';
import { findUnlocked } from '../jobs/duties.ts';
import { heartbeat } from '../jobs/heartbeat.ts';
import { insert } from '../jobs/insert.ts';
import { insertAndClaim } from '../jobs/insert-and-claim.ts';
import { outlook } from '../jobs/outlook.ts';
import { appendLogs } from '../jobs/output.ts';
import { settle, start } from '../jobs/settle.ts';
import { checkWritable } from './check-writable.ts';
import type { Context } from './context.ts';

export const methods = {
  now: async ({ database, sql }: Context, signal: AbortSignal): Promise<number> => {
    const [row] = await database.query<{ now: number }>(sql.now, [], signal);
    return row?.now as number;
  },
  checkWritable,
  deadlocks: ({ database }: Context) => database.deadlocks,
  subscribe: ({ hints }: Context, listener: (hint: Hint) => void) => hints.subscribe(listener),
  observe: ({ hints }: Context, observer: (effects: SideEffects) => void) => hints.observe(observer),

  insert,
  insertAndClaim,
  claim,
  start,
  heartbeat,
  settle,

  markLanes,
  deleteLanes,
  findUnlocked,

  outlook,
  appendLogs,

  insertWorkflow,

  registerWorker,
  leaveWorker,
  lead: ({ leadership }: Context, request: LeadRequest, signal: AbortSignal) => leadership.lead(request, signal),
  resign: ({ leadership }: Context, instanceId: string, signal: AbortSignal) => leadership.resign(instanceId, signal),
  duties: ({ leadership }: Context, signal: AbortSignal) => leadership.duties(signal),
};
