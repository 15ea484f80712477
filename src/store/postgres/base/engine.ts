/** The engine's methods on PostgreSQL. */

import { createHash } from 'node:crypto';
import { isRowError } from '../../../core/error.ts';
import type { NewJob } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { type Engine, engine } from '../../engine/engine.ts';
import { GraphUpdate } from '../../engine/graph/graph-update.ts';
import { Locks } from '../../engine/graph/locks.ts';
import { Changes } from '../../hint.ts';
import { columns } from '../../sql/columns.ts';
import { type Fragment, postgresRenderer, raw, sql, together, withHeld } from '../../sql/sql.ts';
import { type Callable, callable, type Method, type Tx, withNext } from '../../sql/tx.ts';
import { insertLinked } from '../graph/insert-linked.ts';
import { retryTransaction, UnknownLanes } from '../graph/retry-transaction.ts';
import { insertRows } from '../jobs/insert-rows.ts';
import { releaseMeters } from '../jobs/meters.ts';
import type { Context } from './context.ts';
import type { CountingSession, Statement } from './database.ts';
import { isTooSlow } from './store-error.ts';

type Row = Record<string, unknown>;

const methods = withNext(engine);

export function engineOn(context: Context): Callable<Engine> {
  const { database } = context;
  return callable(engine, async (name, args, signal) => {
    const { run, mode, form } = methods[name] as Method;
    const call = (first: unknown) => run(first as never, ...(args as never[]));
    const write = <T>(body: (tx: Tx) => Promise<T>) => inTransaction(context, signal, body);
    const needsTransaction = form === 'many' || (form === 'one' && database.isFenced);
    if (needsTransaction && mode === 'write') return await write(call);
    const tx = txOn(context, database.session(signal));
    const isOfRows = (error: unknown) => !signal.aborted && (isRowError(error) || isTooSlow(error));
    const answer = await call(form === 'staged' ? { tx, write, isOfRows, goesOn: () => !signal.aborted } : tx);
    await refreshAndAnnounce(context, tx, signal);
    return answer;
  });
}

/** Runs `body` in a transaction, writes what follows for other jobs, and announces it after the commit. */
export async function inTransaction<T>(
  context: Context,
  signal: AbortSignal,
  body: (tx: Tx, session: CountingSession) => Promise<T>,
): Promise<T> {
  const { answer, tx } = await retryTransaction(context, signal, async (session) => {
    const own = txOn(context, session);
    const done = await body(own, session);
    await own.graphUpdate.write(own);
    return { answer: done, tx: own };
  });
  await refreshAndAnnounce(context, tx, signal);
  return answer;
}

async function refreshAndAnnounce(context: Context, tx: Tx, signal: AbortSignal): Promise<void> {
  if (tx.effects.queues) await context.lanes.refresh(signal);
  announce(context, tx);
}

export function announce(context: Context, { effects, graphUpdate }: Tx): void {
  context.fairQueues.learn(graphUpdate.fairQueues);
  for (const { jobId, attempt } of effects.endedAttempts) context.openClaims.release(jobId, attempt);
  // An end makes room where the number of running jobs is limited.
  if (effects.endedAttempts.length > 0 && context.lanes.anyLimited) effects.madeRoom();
  if (!effects.isEmpty) context.hints.announce(effects);
}

const nowRow = columns<{ now: number }>({ now: 'instant' });
const writtenRow = nowRow.with<{ now: number; count: number }>({ count: 'bigint' });

export function txOn(context: Context, session: CountingSession): Tx {
  const { schema, shared, notes, sql: statements } = context;
  const effects = new Changes();
  const lanesOf = (jobs: readonly NewJob[]) => tx.laneIds(jobs.map((job) => laneKey(laneOf(job))));
  const tx: Tx = {
    async all(row, statement) {
      const rows = await session.query<Row>(...shared.rendered(statement));
      return rows.map((one) => row.fromPostgres(one));
    },
    async get(row, statement) {
      const [first] = await session.query<Row>(...shared.rendered(statement));
      return first === undefined ? undefined : row.fromPostgres(first);
    },
    run: (statement) => session.write(...shared.rendered(statement)),
    runTogether: async (parts, counted) => {
      const written = await tx.get(writtenRow, together(parts, counted !== undefined));
      return written as NonNullable<typeof written>;
    },
    writeHeld: async ({ matching, writes, answer }) => await tx.all(answer, withHeld(matching, writes, answer)),
    instant: async () => (await tx.get(nowRow, sql`select ${raw(schema)}.now() as now`))?.now as number,
    async lockTable(table, mode) {
      const how = mode === 'share' ? 'share' : 'share row exclusive';
      await session.write({ text: `lock table ${schema}.${table} in ${how} mode` }, []);
    },
    async lockRows(statement) {
      await session.query(...shared.rendered(statement));
    },
    async insertJobs(jobs) {
      const stored = await insertRows(context, session, jobs, lanesOf(jobs));
      for (const { id, status, dueAt, fairKey, queue } of stored) {
        if (fairKey !== null) tx.graphUpdate.fairQueues.add(queue);
        effects.changedJob(id);
        tx.graphUpdate.jobIs(id, { status, due: dueAt });
      }
      return stored;
    },
    insertItems: (groupId, { first, count, more }) =>
      session.query(statements.insertItems, [groupId, first, count, more]),
    laneIds(keys) {
      const ids = context.lanes.knownIds(keys);
      if (ids === undefined) throw new UnknownLanes(keys);
      return ids;
    },
    releaseMeters: (ended) => releaseMeters(statements, session, ended),
    insertLinked: (jobs) => insertLinked(context, session, jobs, lanesOf(jobs.map(({ job }) => job))),
    fairQueues: context.fairQueues.names,
    folds: context.folds,
    locks: new Locks({ all: (row, statement) => tx.all(row, statement) }),
    effects,
    graphUpdate: new GraphUpdate(effects),
    notes,
  };
  return tx;
}

/** The statements of the engine as this installation sends them. Its texts are few, so each is prepared under its hash. */
export class SharedStatements {
  readonly #render: ReturnType<typeof postgresRenderer>;
  readonly #prepared: boolean;
  readonly #named = new Map<string, Statement>();

  constructor(schema: string, { prepared }: { prepared: boolean }) {
    this.#render = postgresRenderer(schema);
    this.#prepared = prepared;
  }

  rendered(statement: Fragment): [Statement, readonly unknown[]] {
    const { text, values, varies } = this.#render(statement);
    if (varies || !this.#prepared) return [{ text }, values];
    let named = this.#named.get(text);
    if (named === undefined) {
      named = { name: createHash('sha256').update(text).digest('base64url').slice(0, 22), text };
      this.#named.set(text, named);
    }
    return [named, values];
  }
}
