/** One connection with the statements it has prepared. Lives inside a thread: every call blocks. */

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

export type Param = SQLInputValue;

/** How long to wait for a lock that a tool outside of Workron holds on the file. */
const BUSY_TIMEOUT_MS = 2_000;

/** Beyond so many prepared statements (lists have many forms) all are let go. */
const MAX_STATEMENTS = 400;

type Found<Row> = Row | undefined;

export class Database implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #asObjects = new Map<string, StatementSync>();
  readonly #asTuples = new Map<string, StatementSync>();

  constructor(file: string, options: { readOnly: boolean }) {
    this.#connection = new DatabaseSync(file, { readOnly: options.readOnly, timeout: BUSY_TIMEOUT_MS });
    // SQLite's own lower() knows ASCII only.
    this.#connection.function('contains', { deterministic: true }, (text, part) =>
      typeof text === 'string' && text.toLowerCase().includes(String(part)) ? 1 : 0,
    );
  }

  /** Whether a transaction is open: some failures (a full disk) end it by themselves. */
  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  /** Several statements without parameters. */
  script(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Answers with how many rows were changed. */
  run(sql: string, ...params: Param[]): number {
    return Number(this.#prepared(sql, this.#asObjects).run(...params).changes);
  }

  /** Answers with the id that an inserted row was given. */
  insert(sql: string, ...params: Param[]): number {
    return Number(this.#prepared(sql, this.#asObjects).run(...params).lastInsertRowid);
  }

  all<Row>(sql: string, ...params: Param[]): Row[] {
    return this.#prepared(sql, this.#asObjects).all(...params) as Row[];
  }

  get<Row>(sql: string, ...params: Param[]): Found<Row> {
    return this.#prepared(sql, this.#asObjects).get(...params) as Found<Row>;
  }

  /** Row by row, for those who may not want all of them. */
  each<Row>(sql: string, ...params: Param[]): Iterable<Row> {
    return this.#prepared(sql, this.#asObjects).iterate(...params) as Iterable<Row>;
  }

  /** Rows as arrays, which are cheap to send to another thread. */
  tuples<Row extends readonly unknown[]>(sql: string, ...params: Param[]): Row[] {
    return this.#prepared(sql, this.#asTuples).all(...params) as unknown as Row[];
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }

  #prepared(sql: string, statements: Map<string, StatementSync>): StatementSync {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      statement.setReturnArrays(statements === this.#asTuples);
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      statements.set(sql, statement);
    }
    return statement;
  }
}
