/** The methods of the writer's thread. */

import { deleteLanes, markLanes } from '../cluster/lanes.ts';
import { lead, resign } from '../cluster/leadership.ts';
import { insertWorkflow } from '../graph/new-workflow.ts';
import { claim } from '../jobs/claim.ts';
import { heartbeat } from '../jobs/heartbeat.ts';
import { insert } from '../jobs/insert.ts';
import { insertAndClaim } from '../jobs/insert-and-claim.ts';
import { appendLogs, deleteProbe, insertProbe } from '../jobs/output.ts';
import { settle, start } from '../jobs/settle.ts';
import type { Context } from './context.ts';
import type { Methods } from './protocol.ts';

/** Everything that changes the file. A leader's writes are made only in its term. */
const writes = {
  insert,
  insertAndClaim,
  claim,
  start,
  heartbeat,
  settle,

  markLanes,
  deleteLanes,

  insertWorkflow,

  appendLogs,
  insertProbe,
  deleteProbe,

  lead,
  resign,
} satisfies Methods;

/** Reads that must not wait behind a long list. */
export const urgentReads = {
  now: ({ now }: Context) => now,
} satisfies Methods;

export const writerMethods = { ...writes, ...urgentReads };
export type WriterMethods = typeof writerMethods;
