import { type Heartbeat, type HeartbeatAnswer, type LeaseRef, listedIn } from '../../../core/lease.ts';
import { takeBack } from '../../engine/changes.ts';
import type { Context } from '../base/context.ts';
import { inTransaction } from '../base/engine.ts';
import { numbers } from '../base/values.ts';

/** Claims are tidied at the first heartbeat that comes later than this. */
const TIDY_AFTER_MS = 5_000;

interface HeldRow {
  job_id: number;
  attempt: number;
  claim_seq: number | null;
  renews: boolean;
  cancel: boolean;
}

interface RenewedWorker {
  state: string;
  was_silent: boolean;
}

export async function heartbeat(
  context: Context,
  { workerId, leases, seenClaim }: Heartbeat,
  signal: AbortSignal,
): Promise<HeartbeatAnswer | undefined> {
  const lists = listedIn(leases);
  const isListed = (row: HeldRow) => lists(refTo(row));
  const renewed = await renewLeases(context, workerId, isListed, signal);
  if (renewed === undefined) return undefined;
  const { worker, held } = renewed;
  // It may claim again: its waiting claim has found nothing.
  if (worker.was_silent) context.hints.announce({ work: true }, { elsewhere: false });

  const missed = held.filter(
    (row) => !isListed(row) && row.claim_seq !== null && seenClaim !== null && row.claim_seq <= seenClaim,
  );
  const returned =
    missed.length === 0 ? [] : await inTransaction(context, signal, (tx) => takeBack(tx, workerId, missed.map(refTo)));
  const gone = new Set(returned.map(({ jobId }) => jobId));
  const kept = new Map(held.filter(({ job_id }) => !gone.has(job_id)).map((row) => [row.job_id, row]));
  return {
    cancel: [...kept.values()].filter(({ cancel }) => cancel).map(refTo),
    lost: (leases ?? [])
      .filter(({ jobId, attempt }) => kept.get(jobId)?.attempt !== attempt)
      .map(({ jobId, attempt }) => ({ jobId, attempt })),
    drain: worker.state === 'draining',
    returned,
  };
}

/** Renews the leases of a worker. Uses the reserved connection, so a renewal never queues. Returns `undefined` if the worker is unknown. */
export async function renewLeases(
  { database, sql }: Pick<Context, 'database' | 'sql'>,
  workerId: number,
  isListed: (row: HeldRow) => boolean,
  signal: AbortSignal,
): Promise<{ worker: RenewedWorker; held: HeldRow[] } | undefined> {
  const [worker] = await database.queryReserved<RenewedWorker>(sql.renewWorker, [workerId], signal);
  if (worker === undefined) return undefined;
  const held = await database.queryReserved<HeldRow>(sql.heldBy, [workerId], signal);
  await database.queryReserved(sql.tidyClaims, [workerId, TIDY_AFTER_MS], signal);
  const renewed = held.filter((row) => row.renews && isListed(row));
  if (renewed.length > 0) {
    const ids = numbers(renewed.map(({ job_id }) => job_id));
    const attempts = numbers(renewed.map(({ attempt }) => attempt));
    const workers = numbers(renewed.map(() => workerId));
    await database.queryReserved(sql.renewLeases, [ids, attempts, workers], signal);
  }
  return { worker, held };
}

function refTo({ job_id, attempt }: HeldRow): LeaseRef {
  return { jobId: job_id, attempt };
}
