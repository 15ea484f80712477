/** The session locks of workers. */

import type { NewWorker, WorkerRow } from '../../../core/worker.ts';
import { addWorker, leaveWorker as markLeft } from '../../engine/workers.ts';
import { columns } from '../../sql/columns.ts';
import { sql } from '../../sql/sql.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';

const nextId = columns<{ id: number }>({ id: 'int' });

/** A worker attached to the database holds its lock before its row is visible. */
export async function registerWorker(context: Context, worker: NewWorker, signal: AbortSignal): Promise<WorkerRow> {
  const { database, direct } = context;
  const tx = txOn(context, database.session(signal));
  const next = await tx.get(nextId, sql`select nextval('worker_id')::integer as id`);
  const id = next?.id as number;
  if (worker.attachment === 'direct') await direct.hold(id, signal);
  try {
    return await addWorker(tx, worker, id);
  } catch (error) {
    direct.release(id);
    throw error;
  }
}

export async function leaveWorker(context: Context, id: number, signal: AbortSignal): Promise<void> {
  await markLeft(txOn(context, context.database.session(signal)), id);
  context.direct.release(id);
}
