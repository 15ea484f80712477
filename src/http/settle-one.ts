import { leaseToWire } from '../api/heartbeat.ts';
import { WorkronError } from '../core/error.ts';
import type { Settlement } from '../core/outcome.ts';
import type { Answer, Call } from './route.ts';

/** Reports one attempt; `lease_lost` where it is no longer this worker's to say. */
export async function settleOne({ scheduler, signal }: Call, settlement: Settlement): Promise<Answer> {
  const [result] = await scheduler.settle([settlement], signal);
  const { jobId, attempt, workerId } = settlement;
  if (result === 'ok') return { status: 200, json: { ...leaseToWire(settlement), result } };
  throw new WorkronError(
    'lease_lost',
    `Attempt ${attempt} of job ${jobId} is not held by worker ${workerId}, or has another outcome already`,
    { jobId },
  );
}
