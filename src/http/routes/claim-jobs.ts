import { ClaimedJobs, ClaimRequest, claimedJobToWire, LONGEST_CLAIM_WAIT_MS } from '../../api/claim.ts';
import type { ClaimedJob } from '../../core/job.ts';
import { type Call, defineRoute } from '../route.ts';

export const claimJobs = defineRoute({
  method: 'POST',
  path: '/jobs/claim',
  scope: 'work',
  summary: 'A worker takes jobs that it can run, waiting for some where there are none',
  body: ClaimRequest,
  long: true,
  quiet: true,
  answers: { 200: ClaimedJobs },
  async handle(call) {
    using _ = call.polls.take();
    const { body } = call;
    const jobs = await call.scheduler.claim(
      {
        workerId: body.worker_id,
        limit: body.limit,
        claimSeq: body.claim_seq,
        offer: {
          queues: body.queues,
          commands: body.commands,
          handlers: body.handlers,
          tags: body.tags,
          free: body.free,
        },
        waitMs: Math.min(body.wait, LONGEST_CLAIM_WAIT_MS),
      },
      call.signal,
    );
    if (call.signal.aborted) await giveBack(call, body.worker_id, jobs);
    return { status: 200, json: { items: jobs.map(claimedJobToWire) } };
  },
});

/** The caller hung up before it was told: what it was handed must not wait for its lease to end. */
async function giveBack(call: Call, workerId: number, jobs: readonly ClaimedJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const settlements = jobs.map(({ id: jobId, attempt }) => {
    return { jobId, attempt, workerId, outcome: { type: 'returned' as const } };
  });
  await call.scheduler.settle(settlements, AbortSignal.timeout(10_000));
  call.signal.throwIfAborted();
}
