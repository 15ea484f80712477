/** Moves the demonstration data of the screenshots into the past, so that the timeline and the chart have a day to show. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The server must not run meanwhile. */
export function backdate(folder: string): void {
  using database = new DatabaseSync(join(folder, 'workron.db'));
  backdateTicks(database);
  backdateWorkflows(database);
  spreadStats(database);
}

/** Backfilled ticks become ticks of the clock, and their runs ran when they were due. */
function backdateTicks(database: DatabaseSync): void {
  database.exec(`update or ignore tick set kind = 'tick', created_at = scheduled_for + 120 where kind = 'backfill'`);
  const ticks = database
    .prepare(`select job_id, scheduled_for from tick where kind = 'tick' and job_id is not null`)
    .all() as { job_id: number; scheduled_for: number }[];
  const run = database.prepare('update run set started_at = ?2, ended_at = ?3 where job_id = ?1');
  const job = database.prepare('update job set created_at = ?2 where id = ?1');
  for (const [place, { job_id, scheduled_for }] of ticks.entries()) {
    const started = scheduled_for + 300 + (place % 7) * 400;
    run.run(job_id, started, started + (2 + ((place * 7) % 11)) * MINUTE_MS);
    job.run(job_id, scheduled_for);
  }
}

/** Ended workflows ran hours ago and took minutes, their steps in proportion. */
function backdateWorkflows(database: DatabaseSync): void {
  const workflows = database
    .prepare('select id, created_at, ended_at from workflow where ended_at is not null order by id desc')
    .all() as { id: number; created_at: number; ended_at: number }[];
  const moved = (column: string): string => `cast(?2 + (${column} - ?3) * ?4 as integer)`;
  const steps = 'select id from job where workflow_id = ?1';
  const statements = [
    `update workflow set started_at = ${moved('started_at')}, ended_at = ${moved('ended_at')}, created_at = ?2
      where id = ?1`,
    `update job set created_at = ${moved('created_at')} where workflow_id = ?1`,
    `update run set started_at = ${moved('started_at')}, ended_at = ${moved('ended_at')} where job_id in (${steps})`,
  ].map((text) => database.prepare(text));
  for (const [place, { id, created_at, ended_at }] of workflows.entries()) {
    const took = (6 + ((place * 5) % 17)) * MINUTE_MS;
    const start = created_at - (place * 2.5 + 0.4) * HOUR_MS;
    for (const statement of statements) {
      statement.run(id, start, created_at, took / Math.max(1, ended_at - created_at));
    }
  }
}

/** Spreads the statistics over the last day, more by day and less by night, however long the data took to make. */
function spreadStats(database: DatabaseSync): void {
  // Of several rows, wait and run are those of the one with the highest count.
  const rows = database
    .prepare(
      `select (select max(minute) from stat) as minute, instance_id, queue, outcome, wait, run, max(count) as most,
         sum(count) as count from stat group by queue, outcome order by queue, outcome`,
    )
    .all() as Record<string, number | string>[];
  database.exec('delete from stat');
  const insert = database.prepare(
    'insert into stat (minute, instance_id, queue, outcome, count, wait, run) values (?, ?, ?, ?, ?, ?, ?)',
  );
  for (let ago = 0; ago < 24 * 60; ago += 1) {
    for (const [place, row] of rows.entries()) {
      const wave = 1 + Math.sin(ago / 37 + place) * 0.5 + Math.sin(ago / 5 + place * 2) * 0.3;
      const share = row['outcome'] === 'failed' ? (ago % 23 < 3 ? 0.5 : 0) : wave;
      const count = Math.round(Number(row['count']) * 0.4 * share);
      if (count === 0) continue;
      const minute = Number(row['minute']) - ago * MINUTE_MS;
      const { instance_id = '', queue = '', outcome = '', wait = '', run = '' } = row;
      insert.run(minute, instance_id, queue, outcome, count, wait, run);
    }
  }
}
