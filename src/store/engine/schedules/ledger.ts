/** The ledger of schedules, manual runs and backfills. */

import { planBackfill, planManual } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { RunState, Tick } from '../../../core/schedule/tick.ts';
import type { InsertOptions } from '../../job-store.ts';
import { unknownKeys } from '../../refusals.ts';
import type { RunRequest, TickFilter } from '../../schedule-store.ts';
import { columns } from '../../sql/columns.ts';
import { after, allOf, anyFrom, anyOf, at, locking, now, sql } from '../../sql/sql.ts';
import { many, one, type Tx } from '../../sql/tx.ts';
import { beginIdempotent, dropIdempotent, endIdempotent } from '../idempotency.ts';
import { isFinal, statusOf } from '../standing.ts';
import { lineFrom, linesOf, lockSchedule, openRuns, type StoredLine, tick } from './rows.ts';
import { type Decided, writeTicks } from './write-ticks.ts';

const idRow = columns<{ id: number }>({ id: 'bigint' });
const instantRow = columns<Pick<Tick, 'scheduledFor'>>({ scheduledFor: 'instant' });
const recentRow = tick.with<Tick & { schedule: string }>({ schedule: 'text' });
const stateRow = columns<RunState & { tickId: number }>({
  tickId: 'bigint',
  status: 'text',
  startedAt: 'instant',
  endedAt: 'instant',
});

async function runSchedule(
  tx: Tx,
  name: string,
  request: RunRequest,
  { idempotency }: InsertOptions,
): Promise<{ ticks: Tick[]; replayed: boolean } | undefined> {
  if (idempotency !== undefined) {
    const answer = await beginIdempotent<{ tick_ids: number[] }>(tx, idempotency);
    // Rows that retention has deleted are left out.
    if (answer !== undefined) return { ticks: await ticksByIds(tx, answer.tick_ids), replayed: true };
  }
  const schedule = await lockSchedule(tx, name);
  if (schedule === undefined) {
    if (idempotency !== undefined) await dropIdempotent(tx, idempotency);
    return undefined;
  }
  const made = (await writeTicks(tx, await decide(tx, schedule, request))).flat();
  if (idempotency !== undefined) await endIdempotent(tx, idempotency, { tick_ids: made.map(({ id }) => id) });
  return { ticks: made, replayed: false };
}

async function decide(
  tx: Tx,
  schedule: Schedule,
  { kind, keys, instants, notify = [] }: RunRequest,
): Promise<Decided[]> {
  const lines = ofKeys(schedule, await linesOf(tx, schedule.id), keys);
  const open = await openRuns(
    tx,
    lines.map(({ id }) => id),
  );
  const instant = await tx.instant();
  const decided: Decided[] = [];
  for (const row of lines) {
    const runs = open.get(row.id) ?? [];
    const asked = { schedule, line: lineFrom(row), open: runs.length, now: instant, notify };
    const ticks =
      kind === 'manual'
        ? [planManual(asked)]
        : planBackfill(asked, await withoutRun(tx, schedule.id, { key: row.key, instants }));
    decided.push({ schedule, ticks, open: runs });
  }
  return decided;
}

function ofKeys({ name }: Schedule, lines: StoredLine[], keys: readonly string[] | null): StoredLine[] {
  if (keys === null) return lines;
  const byKey = new Map(lines.map((line) => [line.key, line]));
  const unknown = keys.filter((key) => !byKey.has(key));
  if (unknown.length > 0) throw unknownKeys(name, unknown);
  return keys.map((key) => byKey.get(key) as StoredLine);
}

function ticksByIds(tx: Tx, ids: readonly number[]): Promise<Tick[]> {
  return tx.all(tick, sql`select ${tick} from tick where id ${anyOf(ids)} order by id`);
}

export interface Instants {
  key: string;
  instants: readonly number[];
}

async function ticksWithoutRun(tx: Tx, name: string, asked: Instants): Promise<number[] | undefined> {
  const schedule = await scheduleId(tx, name);
  return schedule === undefined ? undefined : await withoutRun(tx, schedule, asked);
}

async function withoutRun(tx: Tx, schedule: number, { key, instants }: Instants): Promise<number[]> {
  const [first, last] = [instants[0], instants.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = await tx.all(
    instantRow,
    sql`select scheduled_for from tick where schedule_id = ${schedule} and key = ${key}
      and scheduled_for >= ${at(first)} and scheduled_for <= ${at(last)} and kind <> 'manual' and verdict = 'ran'`,
  );
  const ran = new Set(rows.map(({ scheduledFor }) => scheduledFor));
  return instants.filter((instant) => !ran.has(instant));
}

async function scheduleId(tx: Tx, name: string): Promise<number | undefined> {
  return (await tx.get(idRow, sql`select id from schedule where name = ${name}`))?.id;
}

async function ticks(
  tx: Tx,
  name: string,
  { key, kind, verdict }: TickFilter,
  { before, limit }: { before: number | null; limit: number },
): Promise<Tick[] | undefined> {
  const schedule = await scheduleId(tx, name);
  if (schedule === undefined) return undefined;
  const isAsked = allOf([
    sql`schedule_id = ${schedule}`,
    key === undefined ? undefined : sql`key = ${key}`,
    kind === undefined ? undefined : sql`kind = ${kind}`,
    verdict === undefined ? undefined : sql`verdict = ${verdict}`,
    before === null ? undefined : sql`id < ${before}`,
  ]);
  return tx.all(tick, sql`select ${tick} from tick where ${isAsked} order by id desc limit ${limit}`);
}

function recentTicks(
  tx: Tx,
  { schedules, from, each }: { schedules: readonly string[]; from: number; each: number },
): Promise<(Tick & { schedule: string })[]> {
  const newest = sql`select k.id from tick k where k.schedule_id = s.id and k.created_at >= ${at(from)}
    order by k.id desc limit ${each}`;
  return tx.all(
    recentRow,
    sql`select ${tick.of('t')}, s.name as schedule from schedule s join tick t on t.id ${anyFrom(newest)}
      where s.name ${anyOf(schedules, 'text')} order by t.id desc`,
  );
}

function runStates(tx: Tx, tickIds: readonly number[]): Promise<(RunState & { tickId: number })[]> {
  const status = sql`coalesce(${statusOf('l')}, r.status, w.status, k.outcome)`;
  return tx.all(
    stateRow,
    sql`select k.id as tick_id, ${status} as status,
        case when l.job_id is null then coalesce(r.started_at, w.started_at) else l.started_at end as started_at,
        case when l.job_id is null then coalesce(r.ended_at, w.ended_at) end as ended_at
      from tick k left join live l on l.job_id = k.job_id
        left join run r on r.job_id = k.job_id and ${isFinal('r')} left join workflow w on w.id = k.workflow_id
      where k.id ${anyOf(tickIds)} and ${status} is not null`,
  );
}

async function stoppedOthers(tx: Tx, tickIds: readonly number[]): Promise<void> {
  await tx.run(sql`update tick set stops = null where id ${anyOf(tickIds)}`);
}

function pruneTicks(tx: Tx, keepMs: number, limit: number): Promise<number> {
  const old = sql`select id from tick where created_at < ${after(now, -keepMs)}
    order by created_at limit ${limit} ${locking('for update skip locked')}`;
  return tx.run(sql`delete from tick where id ${anyFrom(old)}`);
}

export const ledgerMethods = {
  runSchedule: many('write', runSchedule),
  ticksWithoutRun: many('urgent', ticksWithoutRun),
  ticks: many('read', ticks),
  recentTicks: one('read', recentTicks),
  runStates: one('read', runStates),
  stoppedOthers: one('write', stoppedOthers),
  pruneTicks: one('write', pruneTicks),
};
