import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { columns } from '../../sql/columns.ts';
import { alsoAnyOf, anyOf, type Fragment, now, sql } from '../../sql/sql.ts';

export interface LiveEnd {
  jobId: number;
  status: TerminalStatus;
  reason: Reason | null;
  error: string | null;
}

const end = columns<LiveEnd>({ jobId: 'bigint', status: 'text', reason: 'text', error: 'text' });

/** The statements that end unfinished jobs without an attempt, to be run together. The jobs keep their counters. */
export function endLive(ends: readonly LiveEnd[]): Fragment[] {
  if (ends.length === 0) return [];
  const ids = ends.map(({ jobId }) => jobId);
  return [
    sql`insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, error, attempts,
        failures, interruptions, snoozes, losses, cancel_requested_at)
      select l.job_id, 0, i.status, i.reason, i.status, l.worker_id, l.started_at, ${now}, l.due, i.error, l.attempt,
        l.failures, l.interruptions, l.snoozes, l.losses, l.cancel_requested_at
      from ${end.input(ends)} i join live l on l.job_id = i.job_id ${alsoAnyOf('l.job_id', ids)}`,
    sql`delete from live where job_id ${anyOf(ids)}`,
  ];
}
