/** A store with many ended jobs, written by SQL: a million submits would take longer than the bench. */

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

const QUEUES = 20;
const NAMES = 200;
/** The workers that have run the jobs. */
export const WORKERS = 8;
/** Young enough that none is pruned during the bench. */
const SPAN_MS = 4 * 86_400_000;

/**
 * Without `analyze`, which Workron never runs: its statistics would say that no job is unfinished, and change the plans.
 * 2 % failed, 1 % cancelled, the rest done; one in ten thousand has the tag `rare`, one in a thousand the name `needle`.
 */
export function fillSqlite(file: string, count: number): void {
  const database = new DatabaseSync(file);
  database.exec(`
    pragma synchronous = off;
    begin;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into job (queue, kind, name, priority, tags, created_at, spec)
    select 'queue-' || (i % ${QUEUES}), '', iif(i % 1000 = 0, 'needle', 'name-' || (i % ${NAMES})), 0,
      iif(i % 10000 = 0, '["rare"]', '[]'), unixepoch() * 1000 - (${count} - i) * ${SPAN_MS} / ${count}, '{"command":"echo ' || i || '"}'
    from n;
    insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code, error,
      attempts, failures, interruptions, snoozes, losses)
    select id, 1, ${STATUS}, iif(id % 50 = 0, 'exit', null), iif(id % 50 = 0, 'failed', 'done'), id % ${WORKERS} + 1, created_at + 50,
      created_at + 90, created_at, iif(id % 50 = 0, 1, 0), iif(id % 50 = 0, 'exit 1' || char(10) || 'no such file', null),
      1, iif(id % 50 = 0, 1, 0), 0, 0, 0
    from job where not exists (select 1 from live where job_id = job.id);
    commit;
  `);
  database.close();
}

export async function fillPostgres(url: string, schema: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`set search_path to "${schema}"; set synchronous_commit = off`);
  await client.query(`
    insert into job (id, queue, kind, name, priority, tags, created_at, spec)
    select nextval('job_id'), 'queue-' || (i % ${QUEUES}), '', case when i % 1000 = 0 then 'needle' else 'name-' || (i % ${NAMES}) end, 0,
      case when i % 10000 = 0 then '{rare}'::text[] else '{}'::text[] end, now() - (${count} - i) * interval '1 ms' * ${SPAN_MS} / ${count},
      jsonb_build_object('command', 'echo ' || i)
    from generate_series(1, ${count}) i`);
  await client.query(`
    insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code, error,
      attempts, failures, interruptions, snoozes, losses)
    select id, 1, ${STATUS}, case when id % 50 = 0 then 'exit' end, case when id % 50 = 0 then 'failed' else 'done' end,
      id % ${WORKERS} + 1, created_at + interval '50 ms', created_at + interval '90 ms', created_at,
      case when id % 50 = 0 then 1 else 0 end, case when id % 50 = 0 then E'exit 1\\nno such file' end,
      1, case when id % 50 = 0 then 1 else 0 end, 0, 0, 0
    from job where not exists (select 1 from live where job_id = job.id)`);
  await client.query('vacuum analyze job, run');
  await client.end();
}

const STATUS = `case when id % 50 = 0 then 'failed' when id % 100 = 1 then 'cancelled' else 'done' end`;
