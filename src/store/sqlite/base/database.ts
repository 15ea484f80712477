/** One connection with the statements it has prepared. Every call blocks, so those to a file are made inside a thread. */

import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { DatabaseSync } from './node-sqlite.ts';

export type Param = SQLInputValue;

/** How long to wait for a lock that a tool outside of Workron holds on the file. */
const BUSY_TIMEOUT_MS = 2_000;

/** Beyond this number all prepared statements are dropped: lists have many forms. */
const MAX_STATEMENTS = 400;

/**
 * SQLite plans a statement for the value of a bound limit, and prepares it anew each time the limit is bound, which takes 5 to
 * 80 µs. An expression is not looked into.
 */
const BOUND_LIMIT = /\blimit\s+(\?\d*)/g;

type Found<Row> = Row | undefined;

export class Database implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #asObjects = new Map<string, StatementSync>();
  readonly #asTuples = new Map<string, StatementSync>();

  constructor(file: string, options: { readOnly: boolean }) {
    this.#connection = new DatabaseSync(file, { readOnly: options.readOnly, timeout: BUSY_TIMEOUT_MS });
    // SQLite's lower() handles ASCII only.
    this.#connection.function('contains', { deterministic: true }, (text, part) =>
      typeof text === 'string' && text.toLowerCase().includes(String(part)) ? 1 : 0,
    );
  }

  /** True if a transaction is open. Some errors (a full disk) end it. */
  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  /** Runs several statements without parameters. */
  script(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...params: Param[]): number {
    return Number(this.#prepared(sql, this.#asObjects).run(...params).changes);
  }

  /** Returns the id of the inserted row. */
  insert(sql: string, ...params: Param[]): number {
    return Number(this.#prepared(sql, this.#asObjects).run(...params).lastInsertRowid);
  }

  all<Row>(sql: string, ...params: Param[]): Row[] {
    return this.#prepared(sql, this.#asObjects).all(...params) as Row[];
  }

  get<Row>(sql: string, ...params: Param[]): Found<Row> {
    return this.#prepared(sql, this.#asObjects).get(...params) as Found<Row>;
  }

  /** Reads row by row, for callers that may stop early. */
  each<Row>(sql: string, ...params: Param[]): Iterable<Row> {
    return this.#prepared(sql, this.#asObjects).iterate(...params) as Iterable<Row>;
  }

  /** As `each`, with rows as arrays. */
  eachTuple<Row extends readonly unknown[]>(sql: string, ...params: Param[]): Iterable<Row> {
    return this.#prepared(sql, this.#asTuples).iterate(...params) as unknown as Iterable<Row>;
  }

  /** Returns rows as arrays, which are cheap to send to another thread. */
  tuples<Row extends readonly unknown[]>(sql: string, ...params: Param[]): Row[] {
    return this.#prepared(sql, this.#asTuples).all(...params) as unknown as Row[];
  }

  [Symbol.dispose](): void {
    if (this.#connection.isOpen) this.#connection.close();
  }

  #prepared(sql: string, statements: Map<string, StatementSync>): StatementSync {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql.replaceAll(BOUND_LIMIT, 'limit $1 + 0'));
      statement.setReturnArrays(statements === this.#asTuples);
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      statements.set(sql, statement);
    }
    return statement;
  }
}
