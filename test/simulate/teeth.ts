/** Faults that the simulation must find. `seen`: software of this kind has had it. */

import type { Edit } from '../mutants/mutants.ts';

export interface Tooth {
  name: string;
  seen: boolean;
  edits: Edit[];
}

const tooth = (seen: boolean, name: string, ...edits: Edit[]): Tooth => ({ name, seen, edits });
const edit = (file: string, from: string, to: string): Edit => ({ file, from, to });

export const TEETH: Tooth[] = [
  tooth(
    true,
    'a success is accepted without a check of its attempt',
    edit('src/store/sqlite/sql/settle.ts', 'const isHeld = `l.attempt = i.value ->> 1 and ', 'const isHeld = `'),
  ),
  tooth(
    true,
    'a failure is accepted without a check of its attempt',
    edit('src/scheduler/leases/settle.ts', ' && job.attempt === attempt && job', ' && job'),
  ),
  tooth(
    true,
    'the reaper takes jobs back without patience',
    edit(
      'src/scheduler/duties/lease-watch.ts',
      'leases = await store.leases(signal);',
      'leases = await store.leases(signal);\n      storeNow = await store.now(signal);',
    ),
    edit(
      'src/scheduler/duties/lease-watch.ts',
      'let leases: HeldLease[];',
      'let leases: HeldLease[];\n    let storeNow: number;',
    ),
    edit(
      'src/scheduler/duties/lease-watch.ts',
      'seen.since + lease.leaseMs - sentAt',
      'lease.heardAt + lease.leaseMs - storeNow',
    ),
  ),
  tooth(
    true,
    'a claim is not counted as an attempt',
    edit('src/store/sqlite/sql/claim.ts', 'attempt = attempt + 1,', 'attempt = max(1, attempt),'),
  ),
  tooth(
    true,
    'a heartbeat revives a lease that was lost',
    edit(
      'src/store/sqlite/jobs/heartbeat.ts',
      '  const lists = listedIn(leases);',
      `  for (const { jobId, attempt } of leases ?? []) {
    const lost = "update live set status = 'running' where job_id = ? and attempt = ? and worker_id = ? and status = 'pending'";
    if (database.run(lost, jobId, attempt, workerId) > 0) context.heads.forget();
  }
  const lists = listedIn(leases);`,
    ),
  ),
  tooth(
    true,
    'jobs go back while the answer to their claim is on its way',
    edit('src/store/sqlite/jobs/heartbeat.ts', 'row.claim_seq <= seenClaim)', 'row.claim_seq <= seenClaim + 1)'),
  ),
  tooth(
    true,
    'a worker counts a claim as answered when it is sent',
    edit(
      'src/worker/claim/claimer.ts',
      'this.#claims += 1;',
      'this.#claims += 1;\n    this.#lastAnswered = this.#claims;',
    ),
  ),
  tooth(
    true,
    'a second report of another outcome is accepted',
    edit('src/scheduler/leases/settle.ts', 'return sameOutcome(record, settlement.outcome);', 'return true;'),
  ),
  tooth(
    true,
    'a unique key is never let go',
    edit('src/store/sqlite/sql/keys.ts', "and hold <> 'time'`", "and hold = 'pending'`"),
  ),
  tooth(
    true,
    'a unique key for waiting jobs outlives the claim',
    edit('src/store/sqlite/sql/keys.ts', "and hold = 'pending'`", "and hold = 'none'`"),
  ),
  tooth(
    true,
    'a tick is judged again because its cursor was not written',
    edit(
      'src/store/engine/schedules/write-ticks.ts',
      'return { id: line.id, cursor, nextDue, tail };',
      'return { id: line.id, cursor: Math.min(line.cursor, cursor), nextDue, tail };',
    ),
  ),
  tooth(
    true,
    'a job that must not run twice is prefetched',
    edit(
      'src/core/prefetch.ts',
      "return rerun === 'safe' && maxAttempts > 1;",
      "return (rerun === 'safe' || rerun === 'never') && maxAttempts > 1;",
    ),
  ),
  tooth(
    true,
    'a cancelled job that fails is retried',
    edit(
      'src/core/transition.ts',
      "if (job.cancelRequestedAt !== null || outcome.type === 'cancelled')",
      "if (outcome.type === 'cancelled')",
    ),
  ),
  tooth(
    true,
    'a cancelled job whose worker is lost is retried',
    edit(
      'src/core/transition.ts',
      '  if (job.cancelRequestedAt !== null) return cancelled(job, fence, record);\n  const counters',
      '  const counters',
    ),
  ),
  tooth(
    true,
    'the overlap check ignores manual runs',
    edit(
      'src/store/engine/schedules/rows.ts',
      'from live where line ${anyOf(lines)}\n',
      "from live where line ${anyOf(lines)} and not exists (select 1 from tick t where t.job_id = live.job_id and t.kind = 'manual')\n",
    ),
  ),
  tooth(
    true,
    'a queue runs one job more than its limit',
    edit('src/store/sqlite/jobs/headroom.ts', 'row.max_running - running', 'row.max_running + 1 - running'),
  ),
  tooth(
    true,
    'a key runs one job more than its limit',
    edit('src/core/meter.ts', 'return running < max ?', 'return running <= max ?'),
  ),
  tooth(
    true,
    'the end of a job lets none start that waits for its limit',
    edit(
      'src/store/sqlite/jobs/meters.ts',
      'if (names.length > 0) database.run(sql.openParkings',
      'if (names.length < 0) database.run(sql.openParkings',
    ),
  ),
  tooth(
    false,
    'a rate forgets starts after half of its window',
    edit('src/core/meter.ts', '(at) => at > now - windowMs)', '(at) => at > now - windowMs / 2)'),
  ),
  tooth(
    false,
    'a paused queue is served',
    edit('src/store/sqlite/jobs/headroom.ts', 'if (row.paused_at !== null) return 0;', ''),
  ),
  tooth(
    false,
    'the jobs of one claim share the same resources',
    edit('src/core/capacity.ts', '    subtract(this.#free, resources);\n    this.#taken', '    this.#taken'),
  ),
  tooth(
    false,
    'a lost attempt is not charged',
    edit(
      'src/core/transition.ts',
      'failures: job.failures + 1, losses: job.losses + 1',
      'failures: job.failures, losses: job.losses + 1',
    ),
  ),
  tooth(
    false,
    'a job gets one attempt more than its budget',
    edit('src/core/transition.ts', 'spent + 1 >= job.maxAttempts)', 'spent + 1 > job.maxAttempts)'),
  ),
  tooth(
    true,
    'a job that must not run twice is retried after a loss',
    edit(
      'src/core/transition.ts',
      "if (job.rerun === 'never' || spent + 1 >= job.maxAttempts)",
      'if (spent + 1 >= job.maxAttempts)',
    ),
  ),
  tooth(
    true,
    'a change is written although a cancel came in between',
    edit('src/store/engine/changes.ts', '      and (l.cancel_requested_at is not null) = i.cancel_requested\n', ''),
  ),
  tooth(
    true,
    'a job is taken back although its worker was heard in between',
    edit(
      'src/store/engine/changes.ts',
      "(i.seen_at is null or i.seen_at = coalesce(${msOf('w.seen_at')}, 0))",
      '(i.seen_at is null or w.id is not null)',
    ),
  ),
  tooth(
    false,
    'a draining worker is given jobs',
    edit('src/store/sqlite/jobs/claim.ts', 'if (worker.draining || worker.silent)', 'if (worker.silent)'),
  ),
  tooth(
    true,
    'the end of a skipped job is not passed on',
    edit(
      'src/store/engine/graph/propagation.ts',
      '      if (flags === null || flags & FLAG.hasChildren) this.#tx.graphUpdate.queueCascade(parent.id, modeOf(parent));\n',
      '',
    ),
  ),
  tooth(
    true,
    'a worker drops outcomes that it could not report',
    edit(
      'src/worker/report/settler.ts',
      'if (isRefusal(error)) return this.#isolate(open, error);',
      'return open.forEach((report) => this.#drop(report));',
    ),
  ),
  tooth(
    true,
    'the launcher of a frozen worker has no deadline',
    edit(
      'src/worker/worker.ts',
      '    this.#launcher?.setDeadline({ stopInMs: this.#lease.cutOffInMs, killInMs: this.#lease.killInMs });\n',
      '',
    ),
  ),
  tooth(
    true,
    'a worker that lost contact lets its handlers run on',
    edit('src/worker/run/runner.ts', "      assignment.stop('cut_off');\n", ''),
  ),
  tooth(
    true,
    'an idempotency key is not looked up',
    edit(
      'src/store/sqlite/jobs/idempotency.ts',
      'if (stored === undefined) return undefined;',
      "if (stored?.fingerprint !== '') return undefined;",
    ),
  ),
  tooth(
    false,
    'a schedule overlaps with one unfinished run',
    edit('src/core/schedule/plan-line.ts', "if (open === 0) return 'free';", "if (open <= 1) return 'free';"),
  ),
  tooth(
    false,
    'a member of a gang starts before all places are held',
    edit('src/core/claim-places.ts', 'return places.every(({ accepted }) => accepted) && waiting', 'return waiting'),
  ),
  tooth(
    false,
    'a member pays for being stopped with its gang',
    edit(
      'src/core/member.ts',
      'counters: countersOf(job), delayMs: 0',
      'counters: { ...countersOf(job), failures: job.failures + 1 }, delayMs: 0',
    ),
  ),
  tooth(
    false,
    'the members of a gang go on when one has failed',
    edit('src/core/gang-fate.ts', '  if (hasFailed) return cancelling(unfinished);\n', ''),
  ),
];
