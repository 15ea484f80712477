/** The rules of schedules: every tick has one verdict, and runs do not overlap. */

import { isTerminal } from '../../src/core/job.ts';
import { NEVER } from '../../src/core/never.ts';
import type { Tick } from '../../src/core/schedule/tick.ts';
import type { Store } from '../../src/store/store.ts';

type Fail = (rule: string, message: string) => never;

/** `policies` has the overlap policy of each schedule. */
export async function checkSchedules(store: Store, policies: ReadonlyMap<string, string>, fail: Fail): Promise<void> {
  for (const [name, policy] of policies) {
    const schedule = await store.schedule(name, NEVER);
    const rows = await store.ticks(name, {}, { before: null, limit: 10_000 }, NEVER);
    if (schedule === undefined || rows === undefined) continue;
    checkVerdicts(name, schedule.everyMs as number, rows.filter(({ kind }) => kind === 'tick').reverse(), fail);
    await checkRuns(store, { name, policy, rows }, fail);
  }
}

/** The rows follow one another without a gap, and no tick is in two rows. */
function checkVerdicts(name: string, everyMs: number, rows: readonly Tick[], fail: Fail): void {
  let last: number | undefined;
  for (const { scheduledFor, through, count, verdict } of rows) {
    if (last !== undefined && scheduledFor !== last + everyMs) {
      fail('one verdict per tick', `${name}: the tick after ${last} is ${scheduledFor}, expected ${last + everyMs}`);
    }
    if (through !== scheduledFor + (count - 1) * everyMs) {
      fail('one verdict per tick', `${name}: ${verdict} from ${scheduledFor} through ${through} counts ${count} ticks`);
    }
    last = through;
  }
}

/** Each run has its own job. Unless overlap is allowed, all but one of the unfinished runs are blocked. */
async function checkRuns(
  store: Store,
  { name, policy, rows }: { name: string; policy: string; rows: readonly Tick[] },
  fail: Fail,
): Promise<void> {
  const ids = rows.flatMap(({ jobId }) => jobId ?? []);
  if (new Set(ids).size !== ids.length) fail('one verdict per tick', `${name}: two ticks have the same job`);
  const jobs = await store.read(ids, NEVER);
  const open = jobs.filter(({ status }) => !isTerminal(status) && status !== 'blocked');
  if (policy !== 'allow' && open.length > 1) {
    fail(
      'runs of a schedule do not overlap',
      `${name} (${policy}): jobs ${open.map(({ id }) => id).join(', ')} are open at once`,
    );
  }
  for (const { jobId, scheduledFor, kind } of rows) {
    const job = jobs.find(({ id }) => id === jobId);
    if (jobId !== null && job?.tick?.scheduledFor !== scheduledFor) {
      fail(
        'one verdict per tick',
        `${name}: the ${kind} of ${scheduledFor} has job ${jobId}, which is for ${job?.tick?.scheduledFor}`,
      );
    }
  }
}
