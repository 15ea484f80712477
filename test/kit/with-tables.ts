/** Stores whose tables a test can read and change, as a fault or an older version would leave them. */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { TestStore } from '../../contract/kit/store.ts';
import type { RunStatement } from '../../src/store/transactional.ts';
import { openTestPostgres } from './postgres.ts';
import { openTestSqlite } from './sqlite.ts';

/** Runs a statement outside of the store. `@` before a table stands for its schema. */
export type AskTables = <Row>(text: string) => Promise<Row[]>;

export interface StoreWithTables extends TestStore {
  ask: AskTables;
  /** An application's connection: each statement is a transaction. */
  run: RunStatement;
}

export const STORES_WITH_TABLES: Record<'sqlite' | 'postgres', () => Promise<StoreWithTables>> = {
  async sqlite() {
    const given = await openTestSqlite();
    const database = new DatabaseSync(given.store.location);
    return {
      ...given,
      ask: askSqlite(database),
      run: (text, values) => database.prepare(text).all(...(values as SQLInputValue[])),
      async [Symbol.asyncDispose]() {
        database.close();
        await given[Symbol.asyncDispose]();
      },
    };
  },
  async postgres() {
    const given = await openTestPostgres();
    return {
      ...given,
      ask: askPostgres(given),
      run: (text, values) => given.query(text, [...values]),
    };
  },
};

export function askSqlite(database: DatabaseSync): AskTables {
  return async <Row>(text: string) => database.prepare(text.replaceAll('@', '')).all() as Row[];
}

export function askPostgres({
  schema,
  query,
}: {
  schema: string;
  query: <Row>(text: string) => Promise<Row[]>;
}): AskTables {
  return (text) => query(text.replaceAll('@', `"${schema}".`));
}
