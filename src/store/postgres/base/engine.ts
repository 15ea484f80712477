/** The engine's methods on PostgreSQL. */

import { createHash } from 'node:crypto';
import { isRowError } from '../../../core/error.ts';
import { type Engine, engine } from '../../engine/engine.ts';
import { columns } from '../../sql/columns.ts';
import { type Fragment, postgresRenderer, raw, sql, together } from '../../sql/sql.ts';
import { type Callable, callable, type Method, type Tx, withNext } from '../../sql/tx.ts';
import { TransactionEffects } from '../graph/effects.ts';
import { Locks } from '../graph/locks.ts';
import { retryTransaction } from '../graph/retry-transaction.ts';
import { insertRows } from '../jobs/insert-rows.ts';
import { giveTurnsTo } from '../jobs/turns.ts';
import { knownLanes, startRuns } from '../schedules/start-runs.ts';
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
    const write = <T>(body: (tx: Tx) => Promise<T>) => runTransaction(context, body, signal);
    const needsTransaction = form === 'many' || (form === 'one' && database.isFenced);
    if (needsTransaction && mode === 'write') return await write(call);
    const effects = new TransactionEffects();
    const tx = txOn(context, database.session(signal), effects);
    const isOfRows = (error: unknown) => !signal.aborted && (isRowError(error) || isTooSlow(error));
    const answer = await call(form === 'staged' ? { tx, write, isOfRows, goesOn: () => !signal.aborted } : tx);
    await announce(context, effects, signal);
    return answer;
  });
}

async function runTransaction<T>(context: Context, body: (tx: Tx) => Promise<T>, signal: AbortSignal): Promise<T> {
  const { answer, effects } = await retryTransaction(context, signal, async (session) => {
    const own = new TransactionEffects();
    const done = await body(txOn(context, session, own));
    await own.write(context, session);
    return { answer: done, effects: own };
  });
  await announce(context, effects, signal);
  return answer;
}

async function announce(context: Context, effects: TransactionEffects, signal: AbortSignal): Promise<void> {
  if (effects.queues) await context.lanes.refresh(signal);
  effects.publish(context);
}

const nowRow = columns<{ now: number }>({ now: 'instant' });

export function txOn(context: Context, session: CountingSession, effects = new TransactionEffects()): Tx {
  const { schema, shared, notes } = context;
  const locks = new Locks(context, session);
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
    runTogether: async (statements) => {
      await tx.run(together(statements));
    },
    instant: async () => (await tx.get(nowRow, sql`select ${raw(schema)}.now() as now`))?.now as number,
    async lockTable(table, mode) {
      const how = mode === 'share' ? 'share' : 'share row exclusive';
      await session.write({ text: `lock table ${schema}.${table} in ${how} mode` }, []);
    },
    async lockRows(statement) {
      await session.query(...shared.rendered(statement));
    },
    async insertJobs(jobs) {
      const stored = await insertRows(context, session, jobs, knownLanes(context, jobs));
      for (const { id, status, dueAt, fairKey, queue } of stored) {
        if (fairKey !== null) effects.addedFairQueue(queue);
        effects.changedJob(id);
        effects.jobIs(id, { status, due: dueAt });
      }
      return stored;
    },
    giveTurns: (jobIds, fairQueues) => giveTurnsTo(context, session, { jobIds, fairQueues }),
    startRuns: (wanted) => startRuns(context, { session, locks, effects }, wanted),
    folds: context.folds,
    effects,
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
