/** The application's own transaction, by the shape of what runs a statement in it. */

/** The smallest adapter: runs one statement inside the transaction and answers with its rows. */
export type RunStatement = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

export type Transaction =
  | RunStatement
  /** pg. */
  | { query(text: string, values?: unknown[]): PromiseLike<{ rows: unknown[] }> };
