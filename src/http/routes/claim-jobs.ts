import { ClaimedJobs, ClaimRequest, claimedJobToWire, MAX_CLAIM_WAIT_MS } from '../../api/claim.ts';
import type { ClaimedJob } from '../../core/job.ts';
import { type Call, defineRoute } from '../route.ts';

/** Characters of one answer; a single job may have more. */
const MAX_ANSWER = 32 * 1024 * 1024;

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
        prefetch: body.prefetch,
        claimSeq: body.claim_seq,
        offer: {
          queues: body.queues,
          commands: body.commands,
          handlers: body.handlers,
          tags: body.tags,
          free: body.free,
        },
        waitMs: Math.min(body.wait, MAX_CLAIM_WAIT_MS),
      },
      call.signal,
    );
    const texts = withinLimit(jobs, body.results_once ? new Set() : null);
    await giveBack(call, body.worker_id, call.signal.aborted ? jobs : jobs.slice(texts.length));
    call.signal.throwIfAborted();
    return { status: 200, type: 'application/json; charset=utf-8', text: `{"items":[${texts.join(',')}]}` };
  },
});

/** The first jobs, as many as make an answer that can be read. `told`: parents whose results are in it, where once is enough. */
function withinLimit(jobs: readonly ClaimedJob[], told: Set<number> | null): string[] {
  const texts: string[] = [];
  let size = 0;
  for (const job of jobs) {
    const text = JSON.stringify(claimedJobToWire(job, told));
    size += text.length;
    if (size > MAX_ANSWER && texts.length > 0) break;
    texts.push(text);
  }
  return texts;
}

/** What the caller was handed but will not hear of, as it hung up or there was too much, must not wait for its lease to end. */
async function giveBack(call: Call, workerId: number, jobs: readonly ClaimedJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const settlements = jobs.map(({ id: jobId, attempt }) => {
    return { jobId, attempt, workerId, outcome: { type: 'returned' as const } };
  });
  await call.scheduler.settle(settlements, AbortSignal.timeout(10_000));
}
