import assert from 'node:assert/strict';
import type { Retention, Sweepable } from '../../src/store/duty-store.ts';
import { engine } from '../../src/store/engine/engine.ts';
import type { Fragment } from '../../src/store/sql/sql.ts';
import type { Tx } from '../../src/store/sql/tx.ts';

/** The statements of a method of the engine that finds no rows. They are not sent. */
export async function statementsOf(run: (tx: Tx) => Promise<unknown>): Promise<Fragment[]> {
  const sent: Fragment[] = [];
  const tx: Pick<Tx, 'all' | 'get' | 'run' | 'instant' | 'notes'> = {
    all: async (_columns, statement) => {
      sent.push(statement);
      return [];
    },
    get: async (_columns, statement) => {
      sent.push(statement);
      return undefined;
    },
    run: async (statement) => sent.push(statement),
    instant: async () => Date.now(),
    notes: new Map(),
  };
  await run(tx as Tx);
  return sent;
}

/** The statement of a method that has one. */
export async function statementOf(run: (tx: Tx) => Promise<unknown>): Promise<Fragment> {
  const [statement, ...others] = await statementsOf(run);
  assert.ok(statement !== undefined && others.length === 0);
  return statement;
}

/** The statement that deletes old rows of a table. */
export async function sweepOf(what: Sweepable, retention: Retention, limit: number): Promise<Fragment> {
  const { next } = engine.sweep;
  return await statementOf(async (tx) => next?.run({ tx } as never, ...([what, retention, limit, []] as never[])));
}
