/** Manual runs and backfills of a schedule, and its ledger. */

import { planBackfill, planManual } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Tick } from '../../../core/schedule/tick.ts';
import type { InsertOptions } from '../../job-store.ts';
import { unknownKeys } from '../../refusals.ts';
import { decodeLine, decodeTick, type LineColumns, type TickColumns } from '../../schedule-columns.ts';
import type { RunRequest, TickFilter } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { TransactionEffects } from '../graph/effects.ts';
import { Locks } from '../graph/locks.ts';
import { retryTransaction } from '../graph/retry-transaction.ts';
import type { Transaction } from '../graph/transaction.ts';
import { beginIdempotent } from '../jobs/idempotency.ts';
import { lockSchedule, nowOf, openRuns } from './rows.ts';
import { type Decided, writeTicks } from './write-ticks.ts';

type RunAnswer = { ticks: Tick[]; replayed: boolean } | undefined;

interface RunInput extends InsertOptions {
  name: string;
  request: RunRequest;
}

export async function runSchedule(
  context: Context,
  name: string,
  request: RunRequest,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<RunAnswer> {
  const { answer, effects } = await retryTransaction(context, signal, async (session) => {
    const effects = new TransactionEffects();
    const transaction = { session, locks: new Locks(context, session), effects };
    const ran = await runOnce(context, transaction, { ...options, name, request });
    await effects.write(context, session);
    return { answer: ran, effects };
  });
  effects.publish(context);
  return answer;
}

async function runOnce(
  context: Context,
  transaction: Transaction,
  { name, request, idempotency }: RunInput,
): Promise<RunAnswer> {
  const { sql } = context;
  const { session } = transaction;
  if (idempotency !== undefined) {
    const stored = await beginIdempotent<{ tick_ids: number[] }>(context, session, idempotency);
    // Rows that retention has deleted are left out.
    if (stored !== undefined) return { ticks: await ticksByIds(context, session, stored.tick_ids), replayed: true };
  }
  const schedule = await lockSchedule(context, session, name);
  if (schedule === undefined) {
    if (idempotency !== undefined) await session.query(sql.dropIdempotent, [idempotency.key]);
    return undefined;
  }
  const decided = await decide(context, session, schedule, request);
  const ticks = (await writeTicks(context, transaction, decided)).flat();
  if (idempotency !== undefined) {
    const answer = JSON.stringify({ tick_ids: ticks.map(({ id }) => id) });
    await session.query(sql.endIdempotent, [idempotency.key, answer]);
  }
  return { ticks, replayed: false };
}

async function decide(
  context: Context,
  session: Session,
  schedule: Schedule,
  { kind, keys, instants, notify = [] }: RunRequest,
): Promise<Decided[]> {
  const lines = await linesOf(context, session, schedule, keys);
  const open = await openRuns(
    context,
    session,
    lines.map(({ id }) => id),
  );
  const now = await nowOf(context, session);
  const decided: Decided[] = [];
  for (const row of lines) {
    const runs = open.get(row.id) ?? [];
    const request = { schedule, line: decodeLine(row), open: runs.length, now, notify };
    const ticks =
      kind === 'manual'
        ? [planManual(request)]
        : planBackfill(request, await withoutRun(context, session, { id: schedule.id, key: row.key, instants }));
    decided.push({ schedule, ticks, open: runs });
  }
  return decided;
}

async function linesOf(
  { sql }: Context,
  session: Session,
  { id, name }: Schedule,
  keys: readonly string[] | null,
): Promise<LineColumns[]> {
  const lines = await session.query<LineColumns>(sql.linesOf, [id]);
  if (keys === null) return lines;
  const byKey = new Map(lines.map((line) => [line.key, line]));
  const unknown = keys.filter((key) => !byKey.has(key));
  if (unknown.length > 0) throw unknownKeys(name, unknown);
  return keys.map((key) => byKey.get(key) as LineColumns);
}

async function ticksByIds({ sql }: Context, session: Session, ids: readonly number[]): Promise<Tick[]> {
  return (await session.query<TickColumns>(sql.ticksByIds, [numbers(ids)])).map(decodeTick);
}

export async function ticksWithoutRun(
  context: Context,
  name: string,
  { key, instants }: { key: string; instants: readonly number[] },
  signal: AbortSignal,
): Promise<number[] | undefined> {
  const session = unlocked(context, signal);
  const id = await idOf(context, session, name);
  return id === undefined ? undefined : await withoutRun(context, session, { id, key, instants });
}

async function withoutRun(
  { sql }: Context,
  session: Session,
  { id, key, instants }: { id: number; key: string; instants: readonly number[] },
): Promise<number[]> {
  const [first, last] = [instants[0], instants.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = await session.query<{ scheduled_for: number }>(sql.ranTicks, [id, key, first, last]);
  const ran = new Set(rows.map((row) => row.scheduled_for));
  return instants.filter((instant) => !ran.has(instant));
}

export async function ticks(
  context: Context,
  name: string,
  filter: TickFilter,
  { before, limit }: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<Tick[] | undefined> {
  const session = unlocked(context, signal);
  const id = await idOf(context, session, name);
  if (id === undefined) return undefined;
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    `schedule_id = ${bind(id)}::bigint`,
    ...(filter.key === undefined ? [] : [`key = ${bind(filter.key)}`]),
    ...(filter.kind === undefined ? [] : [`kind = ${bind(filter.kind)}`]),
    ...(filter.verdict === undefined ? [] : [`verdict = ${bind(filter.verdict)}`]),
    ...(before === null ? [] : [`id < ${bind(before)}::bigint`]),
  ];
  const text = `select * from ${context.schema}.tick where ${conditions.join(' and ')}
    order by id desc limit ${bind(limit)}::bigint`;
  return (await session.query<TickColumns>({ text }, values)).map(decodeTick);
}

async function idOf({ sql }: Context, session: Session, name: string): Promise<number | undefined> {
  const [row] = await session.query<{ id: number }>(sql.schedule, [name]);
  return row?.id;
}

function unlocked({ database }: Context, signal: AbortSignal): Session {
  return { query: (statement, values = []) => database.query(statement, values, signal) };
}

export async function pruneTicks(
  { database, sql }: Context,
  keepMs: number,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const gone = await database.transaction(signal, (session) => session.query(sql.pruneTicks, [keepMs, limit]));
  return gone.length;
}
